# SPDX-License-Identifier: Apache-2.0
"""Linear algebra: equations, determinants, factors and norms of stacks of matrices (.., M, N), with
the names of NumPy's and PyTorch's linalg.

Values are computed on the host in double precision, right away. Gradients go through everything
here; those of eigenvectors and singular vectors need values that differ. LinAlgError is raised for
a matrix that is singular or not positive definite."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _tensor
from ._tensor import ArgumentError as LinAlgError
from ._tensor import Tensor

__all__ = ["LinAlgError", "cholesky", "cond", "det", "eigh", "eigvalsh", "inv", "lstsq",
           "matrix_power", "matrix_rank", "norm", "pinv", "qr", "slogdet", "solve", "svd",
           "svdvals"]

_EPSILON = 2.0 ** -23  # of float32


class QRResult(NamedTuple):
    Q: Tensor
    R: Tensor


class SVDResult(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor


class EighResult(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor


class SlogdetResult(NamedTuple):
    sign: Tensor
    logabsdet: Tensor


class LstsqResult(NamedTuple):
    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


# ---- Equations and determinants ----

def solve(a: Any, b: Any) -> Tensor:
    """x with a @ x = b: a (.., N, N), b (.., N, K) or (N,). Stacks broadcast."""
    return _tensor._solve(a, b)


def inv(a: Any) -> Tensor:
    """The inverse of each matrix."""
    return _tensor._inv(a)


def det(a: Any) -> Tensor:
    """The determinant of each matrix; 0 of a singular one."""
    return _tensor._det(a)


def slogdet(a: Any) -> SlogdetResult:
    """The sign of the determinant, and the logarithm of its magnitude."""
    return SlogdetResult(*_tensor._slogdet(a))


def lstsq(a: Any, b: Any, rcond: float | None = None) -> LstsqResult:
    """The shortest x for which a @ x is nearest to b: a (.., M, N), b (.., M, K) or (M,). Singular
    values below rcond times the largest count as 0 (None: float32's rounding times max(M, N)). The
    residuals are sums of squares, empty where M <= N or a column of a depends on others."""
    a, b = _real(a), _real(b)
    vector = b.ndim == 1
    right = b.unsqueeze(1) if vector else b
    u, s, vh = svd(a, full_matrices=False)
    kept = s > _limit(a, s, rcond)
    rank = kept.sum(axis=-1)
    turned = u.mT @ right
    parts = _tensor.where(kept, s, 1.0).reciprocal() * kept.astype(s.dtype)
    x = vh.mT @ (parts.unsqueeze(-1) * turned)
    m, n = a.shape[-2:]
    if m > n and bool((rank == n).all().item()):
        residuals = (right - a @ x).square().sum(axis=-2)
    else:
        residuals = _tensor.zeros((*x.shape[:-2], 0), dtype=x.dtype)
    return LstsqResult(x.squeeze(-1) if vector else x, residuals, rank, s)


def pinv(a: Any, rcond: float | None = None) -> Tensor:
    """The inverse of Moore and Penrose: of any matrix, by its singular values."""
    a = _real(a)
    u, s, vh = svd(a, full_matrices=False)
    kept = s > _limit(a, s, rcond)
    parts = _tensor.where(kept, s, 1.0).reciprocal() * kept.astype(s.dtype)
    return vh.mT @ (parts.unsqueeze(-1) * u.mT)


def matrix_power(a: Any, n: int) -> Tensor:
    """a @ a @ .. n times; of the inverse where n is negative."""
    a = _real(a)
    if n < 0:
        return matrix_power(inv(a), -n)
    if n == 0:
        return _tensor.eye(a.shape[-1], dtype=a.dtype).expand(a.shape)
    half = matrix_power(a, n // 2) if n > 1 else None
    if half is None:
        return a
    return half @ half @ a if n % 2 else half @ half


# ---- Factors ----

def cholesky(a: Any) -> Tensor:
    """Lower triangular l with l @ l.mT = a. Of a its lower part is read."""
    return _tensor._cholesky(a)


def qr(a: Any, mode: str = "reduced") -> Any:
    """Q (.., M, K) with columns at right angles and R (.., K, N) upper triangular, K = min(M, N).
    mode "r": R alone."""
    if mode not in ("reduced", "r"):
        raise ValueError(f'qr(): mode is "reduced" or "r", not {mode!r}')
    result = QRResult(*_tensor._qr(a))
    return result if mode == "reduced" else result.R


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """U @ diag(S) @ Vh = a, S falling. full_matrices: U (.., M, M) and Vh (.., N, N), else K =
    min(M, N) columns and rows; gradients go through the vectors of those."""
    if not compute_uv:
        return svdvals(a)
    return SVDResult(*_tensor._svd(a, full_matrices))


def svdvals(a: Any) -> Tensor:
    """The singular values alone, falling."""
    return _tensor._svd(a, False)[1]


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Eigenvalues of symmetric matrices, rising, and eigenvectors as columns. UPLO: which part of a
    is read, "L" or "U"."""
    if UPLO not in ("L", "U"):
        raise ValueError(f'eigh(): UPLO is "L" or "U", not {UPLO!r}')
    return EighResult(*_tensor._eigh(a if UPLO == "L" else _tensor.asarray(a).mT))


def eigvalsh(a: Any, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric matrices alone, rising."""
    return eigh(a, UPLO).eigenvalues


# ---- Norms ----

def _real(a: Any) -> Tensor:
    a = _tensor.asarray(a)
    return a if a.dtype.is_floating_point else a.float()


def _limit(a: Tensor, s: Tensor, rcond: float | None) -> Tensor:
    """Singular values from here down are rounding errors."""
    rcond = _EPSILON * max(a.shape[-2:]) if rcond is None else rcond
    return s[..., :1] * rcond if s.shape[-1] else s


def matrix_rank(a: Any, tol: float | None = None, rtol: float | None = None) -> Tensor:
    """How many singular values are larger than tol, or than rtol times the largest."""
    a = _real(a)
    s = svdvals(a)
    return (s > (_limit(a, s, rtol) if tol is None else tol)).sum(axis=-1)


def cond(a: Any) -> Tensor:
    """The largest singular value divided by the smallest."""
    s = svdvals(a)
    return s[..., 0] / s[..., -1]


def _matrix_norm(x: Tensor, ord: Any) -> Tensor:
    if ord in ("fro", None):
        return x.norm(2.0, axis=(-2, -1))
    if ord in ("nuc", 2, -2):
        s = svdvals(x)
        return s.sum(axis=-1) if ord == "nuc" else s[..., 0] if ord == 2 else s[..., -1]
    if ord in (1, -1, float("inf"), -float("inf")):
        sums = x.abs().sum(axis=-2 if abs(ord) == 1 else -1)
        return sums.amax(axis=-1) if ord > 0 else sums.amin(axis=-1)
    raise ValueError(f"norm(): matrices have no norm {ord!r}")


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The norm of vectors along an axis (any number, 0 and infinite ones too), or of matrices in
    two axes ("fro", "nuc", 1, -1, 2, -2, inf, -inf). Without ord and axis that of all elements."""
    x = _real(x)
    if axis is None and ord is None:
        return x.norm(2.0, axis=None, keepdim=keepdims)
    axes = (axis,) if isinstance(axis, int) else tuple(range(x.ndim) if axis is None else axis)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"norm(): vectors have no norm {ord!r}")
        p = 2.0 if ord is None else float(ord)
        if p == -float("inf"):
            return x.abs().amin(axis=axes[0], keepdim=keepdims)
        return x.norm(p, axis=axes[0], keepdim=keepdims)
    if len(axes) != 2:
        raise ValueError(f"norm(): one axis or two, not {len(axes)}")
    places = [a % x.ndim for a in axes]
    order = [i for i in range(x.ndim) if i not in places] + places
    result = _matrix_norm(x.permute(order), ord)
    if keepdims:
        result = result.reshape([1 if i in places else n for i, n in enumerate(x.shape)])
    return result
