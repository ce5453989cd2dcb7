"""Convolutional networks to compare with: two small ones, and the paper's ResNet-18 and VGG-19."""

from saccade.networks.convolution.large import resnet_18, vgg_19
from saccade.networks.convolution.small import cnn_a, cnn_b, init_convolution
