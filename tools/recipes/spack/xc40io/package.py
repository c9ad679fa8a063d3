# ruff: noqa: F403, F405
"""How Spack builds xc40io, from the source distribution that ``make package`` leaves in ``dist/``.

In a repository of packages: ``spack repo create mine``, this folder below its ``packages/``, then
``spack install --no-checksum xc40io``. When a version is published, it gets its address and digest.
"""

from pathlib import Path

from spack.package import *

_DIST = Path(__file__).resolve().parents[4] / "dist"


class Xc40io(PythonPackage):
    """Discrete-event simulator of the I/O path of Cray XC40 supercomputers."""

    license("BSD-3-Clause")

    version("0.9.0", url=f"file://{_DIST}/xc40io-0.9.0.tar.gz")

    depends_on("c", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-setuptools@77:", type="build")
    depends_on("py-numba@0.68", type="build")
    with default_args(type=("build", "run")):
        depends_on("py-click@8.1:")
        depends_on("py-jinja2@3.1:")
        depends_on("py-matplotlib@3.8:")
        depends_on("py-networkx@3.2:")
        depends_on("py-numpy@1.26:")
        depends_on("py-pydantic@2.7:")
        depends_on("py-pyyaml@6.0:")
        depends_on("py-rich@13.7:")
        depends_on("py-simpleeval@1.0:")
        depends_on("py-simpy@4.1:")
