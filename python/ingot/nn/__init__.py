# SPDX-License-Identifier: Apache-2.0
"""Networks: modules with parameters, layers, and losses. Names of parameters, their shapes and the
numbers they start with are PyTorch's, so that files go both ways.

    net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))
    loss = nn.functional.cross_entropy(net(x), labels)
"""

from . import functional, init, utils
from .activations import (
    ELU, GELU, LeakyReLU, LogSoftmax, ReLU, Sigmoid, SiLU, Sine, Softmax, Softplus, Tanh)
from .attention import MultiheadAttention
from .layers import (
    AdaptiveAvgPool2d, AvgPool2d, Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d, Dropout,
    Embedding, Flatten, Identity, Linear, MaxPool2d)
from .losses import (
    BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, HuberLoss, L1Loss, MSELoss)
from .module import Module, ModuleList, Parameter, Sequential
from .norms import BatchNorm1d, BatchNorm2d, GroupNorm, LayerNorm, RMSNorm
from .recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell
from .resize import Upsample
from .transformer import TransformerEncoder, TransformerEncoderLayer
from .utils import clip_grad_norm_, clip_grad_value_

__all__ = ["Parameter", "Module", "Sequential", "ModuleList", "Linear", "Conv2d", "Conv1d",
           "ConvTranspose2d", "ConvTranspose1d", "MultiheadAttention",
           "TransformerEncoder", "TransformerEncoderLayer", "RNN", "LSTM", "GRU",
           "RNNCell", "LSTMCell", "GRUCell",
           "BatchNorm1d", "BatchNorm2d", "LayerNorm", "RMSNorm", "GroupNorm", "Dropout",
           "Embedding", "ReLU", "GELU", "SiLU", "Sigmoid", "Tanh", "LeakyReLU", "ELU", "Softplus",
           "Softmax", "LogSoftmax", "Flatten", "Identity", "MaxPool2d", "AvgPool2d",
           "AdaptiveAvgPool2d", "Sine", "MSELoss", "L1Loss", "HuberLoss", "BCELoss",
           "BCEWithLogitsLoss", "CrossEntropyLoss", "Upsample", "functional", "init", "utils",
           "clip_grad_norm_", "clip_grad_value_"]
