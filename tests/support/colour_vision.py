"""Colours as people with other colour vision see them, and how far apart colours are.

Dichromacy is simulated with the matrices of Machado, Oliveira and Fernandes ("A
Physiologically-based Model for Simulation of Color Vision Deficiency", 2009) for a severity of 1,
on linear RGB; the distance of colours is that of CIEDE2000 (Sharma, Wu and Dalal, 2005): about 2.3
where one can just tell them apart side by side.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Colours = npt.NDArray[np.float64]

VISION: dict[str, Colours] = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
"""What people see of linear RGB, by their vision."""

_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
_WHITE = _XYZ.sum(axis=1)


def seen(colours: Colours, vision: str) -> Colours:
    """Return sRGB colours, 0 to 1 in the last axis, as people with a vision see them."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    found = np.clip(linear @ VISION[vision].T, 0.0, 1.0)
    back = np.where(found <= 0.0031308, 12.92 * found, 1.055 * found ** (1 / 2.4) - 0.055)
    return np.asarray(back, dtype=np.float64)


def lab(colours: Colours) -> Colours:
    """Return sRGB colours as CIE L*a*b*, for the white of D65."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    share = (linear @ _XYZ.T) / _WHITE
    bent = np.where(share > (6 / 29) ** 3, np.cbrt(share), share / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = np.moveaxis(bent, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def distance(one: Colours, other: Colours) -> float:
    """Return how far apart two colours of L*a*b* are, by CIEDE2000."""
    lightness = (one[0] + other[0]) / 2
    chroma = (np.hypot(*one[1:]) + np.hypot(*other[1:])) / 2
    grey = 0.5 * (1 - np.sqrt(chroma**7 / (chroma**7 + 25.0**7)))
    a = np.array([one[1], other[1]]) * (1 + grey)
    b = np.array([one[2], other[2]])
    c = np.hypot(a, b)
    hue = np.degrees(np.arctan2(b, a)) % 360
    turn = (hue[1] - hue[0] + 180) % 360 - 180 if c.prod() else 0.0
    mean = (hue[0] + turn / 2) % 360 if c.prod() else hue.sum()
    mean_c = c.mean()
    tilt = (
        1
        - 0.17 * np.cos(np.radians(mean - 30))
        + 0.24 * np.cos(np.radians(2 * mean))
        + 0.32 * np.cos(np.radians(3 * mean + 6))
        - 0.20 * np.cos(np.radians(4 * mean - 63))
    )
    scale_l = 1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2)
    scale_c, scale_h = 1 + 0.045 * mean_c, 1 + 0.015 * mean_c * tilt
    parts_l = (other[0] - one[0]) / scale_l
    parts_c = (c[1] - c[0]) / scale_c
    parts_h = 2 * np.sqrt(c.prod()) * np.sin(np.radians(turn / 2)) / scale_h
    around = 30 * np.exp(-(((mean - 275) / 25) ** 2))
    bend = -np.sin(np.radians(2 * around)) * 2 * np.sqrt(mean_c**7 / (mean_c**7 + 25.0**7))
    return float(np.sqrt(parts_l**2 + parts_c**2 + parts_h**2 + bend * parts_c * parts_h))
