"""How the layer learns (`descent`, with the exact map), and how networks learn on images."""
