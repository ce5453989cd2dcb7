"""Convolutional networks to compare with: two small ones, and the paper's ResNet-18 and VGG-19."""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.networks.convolution.large import ResNet, Vgg, resnet_18, vgg_19
from saccade.networks.convolution.layers import convolve
from saccade.networks.convolution.small import (
    ConvolutionConfig,
    SmallConvolution,
    cnn_a,
    cnn_b,
    init_convolution,
)

__all__ = [
    "ConvolutionConfig", "ResNet", "SmallConvolution", "Vgg", "cnn_a", "cnn_b", "convolve",
    "init_convolution", "resnet_18", "vgg_19"]
