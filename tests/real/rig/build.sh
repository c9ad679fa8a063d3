#!/usr/bin/env bash
# Makes what `make truth` records with, on Debian: build.sh FOLDER
#
#   FOLDER/recorder.so   preloaded into the programs
#   FOLDER/short_counts.so  preloaded, too, where Darshan counts
#   FOLDER/bin           adios_write, which writes through Debian's ADIOS 1.13, and pieces, which reads
#                        and writes pieces of a file through MPI-IO; and adios2_write where adios2-config of
#                        an ADIOS 2 for MPICH is found, which is in no package of Debian's
#   FOLDER/hdf5          HDF5 1.14 with its subfiling driver, which Debian leaves out, if its source is in
#                        FOLDER/hdf5-1.14*: that of Debian 13 is; FOLDER/bin/subfiling writes through it
#   FOLDER/mpich         MPICH as Debian's source has it, with ROMIO's driver for Lustre, which Debian
#                        leaves out: five minutes on two cores
#
# What is there is not made again. The programs that are recorded are no part of it.
set -euo pipefail

rig=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
packages="gcc make mpich libmpich-dev libhdf5-mpich-dev dpkg-dev
  libadios-dev libadios-mpich-dev libnetcdf-dev libaec-dev libblosc-dev libbz2-dev liblz4-dev zlib1g-dev"

missing=$(for package in $packages; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "ok installed" || echo "$package"
done)
if [ -n "$missing" ]; then
  echo "install first: apt-get install --no-install-recommends" $missing >&2
  exit 1
fi

gcc -O2 -Wall -Wextra -Wno-unused-parameter -shared -fPIC -I"$rig" \
    -o "$folder/recorder.so" "$rig/recorder.c" -ldl
mpicc.mpich -O2 -Wall -Wextra -shared -fPIC -o "$folder/short_counts.so" "$rig/short_counts.c"

if [ ! -e "$folder/mpich/lib/libmpich.so" ]; then
  cd "$folder"
  if ! ls -d mpich-[0-9]*/ >/dev/null 2>&1; then
    apt-get source mpich ||
      { echo "no source of mpich: add deb-src to apt's list of sources, and apt-get update" >&2; exit 1; }
  fi
  source=$(ls -d "$folder"/mpich-[0-9]*/ | head -n 1)
  mkdir -p mpich-build
  cd mpich-build
  # The device is the one without libraries of networks; the name is that of Debian's library, in
  # whose place it is loaded. Programs are started by Debian's mpirun. There are more ranks than
  # cores: one that waits sleeps, for otherwise 64 of them take a minute.
  MPILIBNAME=mpich CPPFLAGS="-I$rig" CFLAGS="-O1 -w" "$source/configure" --prefix="$folder/mpich" \
      --with-device=ch3:nemesis --with-file-system=ufs+lustre --with-pm=none \
      --enable-yield=usleep --disable-fortran --disable-cxx --disable-static >configure.out 2>&1 ||
    { tail -n 20 configure.out >&2; exit 1; }
  make -j"$(nproc)" install >make.out 2>&1 || { tail -n 20 make.out >&2; exit 1; }
fi

# The two programs of the project's own. Of adios_write the libraries behind ADIOS's are those it was linked with,
# but for NetCDF and HDF5, of which it calls nothing.
lib=/usr/lib/$(gcc -print-multiarch)
mkdir -p "$folder/bin"
mpicc.mpich -O2 -Wall -Wextra -o "$folder/bin/adios_write" "$rig/adios_write.c" \
    -L"$lib/adios/mpich" -ladios -L"$lib/hdf5/mpich" -lnetcdf -lhdf5_hl -lhdf5 \
    -lz -lbz2 -lsz -llz4 -lblosc -lm -lpthread
mpicc.mpich -O2 -Wall -Wextra -o "$folder/bin/pieces" "$rig/pieces.c"
versions=$folder/bin/VERSIONS
if ! grep -qs "^pieces " "$versions"; then
  echo "pieces of the rig" >>"$versions"
fi
if ! grep -qs "^adios_write " "$versions"; then
  echo "adios_write with ADIOS $(dpkg-query -W -f '${Version}' libadios-mpich-dev)" >>"$versions"
fi
if config=$(command -v adios2-config); then
  mpicc.mpich -O2 -Wall -Wextra $("$config" -m --c-flags) -o "$folder/bin/adios2_write" "$rig/adios2_write.c" \
      $("$config" -m --c-libs)
  grep -qs "^adios2_write " "$versions" || echo "adios2_write with $("$config" --version | sed -n 1p)" >>"$versions"
else
  echo "there is no adios2-config: adios2_write is not made"
fi

# HDF5 of Debian 12 is too old for subfiles.
source=$(ls -d "$folder"/hdf5-1.14*/ 2>/dev/null | head -n 1)
if [ -n "$source" ] && [ ! -e "$folder/hdf5/lib/libhdf5.so" ]; then
  mkdir -p "$folder/hdf5-build"
  cd "$folder/hdf5-build"
  CC=mpicc.mpich "$source/configure" --prefix="$folder/hdf5" --enable-parallel --enable-subfiling-vfd \
      --enable-build-mode=production --disable-hl --disable-tests --disable-tools --disable-static \
      --without-zlib --without-szlib >configure.out 2>&1 || { tail -n 20 configure.out >&2; exit 1; }
  make -j"$(nproc)" install >make.out 2>&1 || { tail -n 20 make.out >&2; exit 1; }
fi
if [ -e "$folder/hdf5/lib/libhdf5.so" ]; then
  mpicc.mpich -O2 -Wall -Wextra -I"$folder/hdf5/include" -o "$folder/bin/subfiling" "$rig/subfiling.c" \
      -L"$folder/hdf5/lib" -Wl,-rpath,"$folder/hdf5/lib" -lhdf5
  if ! grep -qs "^subfiling " "$versions"; then
    made=$(sed -n 's/.*HDF5 library version: \([0-9.]*\).*/\1/p' "$folder/hdf5/include/H5public.h")
    echo "subfiling with HDF5 $made" >>"$versions"
  fi
fi
