"""Independent I/O as it looks through the client's cache: a shared file, a file per process."""

from __future__ import annotations

from functools import partial

from xc40io.telling.sheet import Heading
from xc40io.validation.figures.chart import Chart
from xc40io.validation.figures.shared_file import draw_records, stripings

CACHED = "-a MPIIO -w -r"
"""Neither synced, nor read by other nodes than those that wrote."""

CHARTS = (
    Chart(
        name="theta-shared-file-cached",
        heading=Heading(
            title="Shared file through the client's cache: bandwidth by striping",
            setup="IOR on 256 nodes of Theta x 16 ranks, 8 MiB a rank, independent, no fsync, read "
            "where written",
            caption="Published: “Lustre client cache effects only for much higher BW”, beside 172 "
            "GB/s written and 240 GB/s read in all (ExaHDF5 slides, whose chart of it is there "
            "without its numbers).",
        ),
        runs=partial(stripings, f"{CACHED} -b 8m -t 8m"),
        draw=partial(draw_records, None, {}),
        targets=("B06",),
    ),
    Chart(
        name="theta-file-per-process-cached",
        heading=Heading(
            title="File per process through the client's cache: bandwidth by striping",
            setup="IOR on 256 nodes of Theta x 16 ranks, a file of 8 MiB each, no fsync, read "
            "where written",
            caption="Published: file per process “scales to O(10000) files”, “system default "
            "settings work well” (one stripe), “can run into issues when MDS is busy” (Theta I/O "
            "slides; the chart is in the ExaHDF5 slides, without its numbers).",
        ),
        runs=partial(stripings, f"{CACHED} -F -b 8m -t 8m"),
        draw=partial(draw_records, None, {}),
        targets=("B06", "B11"),
    ),
)
"""Independent I/O through the client's cache."""
