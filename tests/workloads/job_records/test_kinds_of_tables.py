"""Tables as batch systems, Darshan and portals write them: what comes out of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from xc40io.workloads.job_records.job_record import JobRecord
from xc40io.workloads.job_records.job_table import read_job_table


class Job(NamedTuple):
    """What must be known of a job; None where the table does not tell it."""

    name: str
    nodes: int | None
    ranks: int | None
    hours: float | None
    read: int = 0
    written: int = 0
    application: str | None = None
    ended: str | None = None

    @classmethod
    def of(cls, record: JobRecord) -> Job:
        """Return a record as what is compared."""
        return cls(
            record.name,
            record.nodes,
            record.ranks,
            None if record.runtime is None else record.runtime / 3600.0,
            record.read,
            record.written,
            record.application,
            record.ended,
        )


STEPS = """\
JobID|JobName|State|ExitCode|NNodes|NTasks|Elapsed|TRESUsageInTot|TRESUsageOutTot
7|climate|COMPLETED|0:0|4||02:00:00||
7.batch|batch|COMPLETED|0:0|1|1|02:00:00|fs/disk=1|fs/disk=1
7.0|app|COMPLETED|0:0|4|8|01:00:00|fs/disk=1024|fs/disk=4096
8|genes|TIMEOUT|0:0|2||1-00:00:00||
8.0|app|CANCELLED|0:15|2|128|1-00:00:00|fs/disk=1M|
9|genes|PENDING|0:0|2||00:00:00||
"""
LONG = """\
JobID|JobIDRaw|JobName|Partition|NTasks|AllocCPUS|Elapsed|State|ExitCode|AveDiskRead|\
AveDiskWrite|ReqTRES|AllocTRES|TRESUsageInTot|TRESUsageOutTot|
7|7|hybrid|knl||256|00:30:00|COMPLETED|0:0|||cpu=256,node=8|cpu=256,mem=256G,node=4|||
7.0|7.0|app|||256|00:30:00|COMPLETED|0:0|||||||
8|8|hybrid|knl||256|00:30:00|NODE_FAIL|1:0|||cpu=256,node=8|cpu=256,mem=256G,node=4|||
8.0|8.0|app||128|256|00:30:00|FAILED|1:0||||cpu=256,node=4|fs/disk=64|cpu=0,fs/disk=32|
"""
BATCH_ONLY = """\
JobID|JobName|State|NNodes|NTasks|Elapsed|AveDiskWrite
7|post|COMPLETED|4||01:00:00|
7.batch|batch|COMPLETED|1|1|01:00:00|2K
7.extern|extern|COMPLETED|4|4|01:00:00|
8|bare|OUT_OF_MEMORY|1||00:30:00|
"""
ARRAY = """\
JobID|JobName|State|Start|Elapsed|ReqTRES|AllocTRES|NodeList
10_[4-9%2]|ens|PENDING|Unknown|00:00:00|cpu=64,node=1||None assigned
10_1|ens|COMPLETED|2022-01-24T08:10:00|00:30:00|cpu=64,node=1|cpu=64,node=2|nid[012-013]
10_2|ens|FAILED|2022-01-24T08:10:00|00:15:00|cpu=64,node=1||nid[012-013,020]
10_3|ens|CANCELLED by 5|2022-01-24T08:10:00|00:15:00|cpu=64,node=1||
"""
OPENPBS = """\
01/24/2022 08:10:00;S;7.pbs01;user=me start=1643011800
01/24/2022 09:10:00;E;7.pbs01;user=me group=us jobname=wrf queue=large ctime=1643011200 \
start=1643011800 exec_host=x1/0*128+x2/0*128 exec_vnode=(x1:ncpus=128)+(x2:ncpus=128) \
Resource_List.select=4:ncpus=64:mpiprocs=32 Resource_List.walltime=02:00:00 end=1643015400 \
Exit_status=0 resources_used.ncpus=256 resources_used.walltime=01:00:00
01/24/2022 09:20:00;E;8[3].pbs01;jobname=ens start=1643011800 end=1643019000 \
Resource_List.nodect=2 Resource_List.select=2:ncpus=64 Resource_List.walltime=02:00:00 \
Exit_status=271 resources_used.walltime=02:00:05
01/24/2022 09:30:00;E;8[].pbs01;jobname=ens start=1643011800 end=1643019000 \
Resource_List.nodect=2 Resource_List.select=2:ncpus=64 Exit_status=1
01/24/2022 09:30:00;E;9.pbs01;jobname=lost start=1643011800 end=1643011801 Exit_status=-1
"""
TORQUE = """\
01/24/2022 09:10:00;E;7.titan;user=me jobname=STDIN start=1643011800 end=1643015400 \
Resource_List.neednodes=2:ppn=16 Resource_List.nodes=2:ppn=16+nid9:ppn=8 Exit_status=1 \
resources_used.walltime=01:00:00
01/24/2022 09:20:00;E;8.xe;jobname=s3d exec_host=n1/0+n1/1+n2/0+n2/1 start=1643011800 \
end=1643015400 Exit_status=0
01/24/2022 09:30:00;E;9.xe;jobname=s3d Resource_List.mppwidth=64 Resource_List.mppnppn=24 \
Resource_List.walltime=00:30:00 resources_used.walltime=00:10:00 Exit_status=265
"""
COBALT = """\
01/24/2022 09:10:00;E;512;Resource_List.nodect=128 args="--in x" ctime=1643011200.1 \
end=1643015400.5 etime=1643011200.1 exe=/home/me/hacc.exe exit_status=0 jobname=N/A \
resources_used.nodect=128 resources_used.walltime=1:00:00 start=1643011800.2
"""
SWF = """\
; MaxNodes: 64
; MaxProcs: 1024
1 0 10 1800 128 -1 -1 128 3600 -1 1 1 1 7 1 -1 -1 -1
2 60 0 3600 6 -1 -1 8 -1 -1 0 1 1 -1 1 -1 -1 -1
"""
DARSHAN = """\
# darshan log version: 3.41
# exe: /soft/flash4 par.in
# nprocs: 512
# run time: 1800.0
total_POSIX_BYTES_READ: 4096
total_POSIX_BYTES_WRITTEN: 100
total_STDIO_BYTES_WRITTEN: 28
"""
PLAIN = """\
id,job_name,num_nodes,ntasks,elapsed,bytes_read,bytes_written,exit_code
a,qmc,4,16,00:30:00,1 MiB,2e6,0
b,qmc,4,,1 h,,,139
"""
PORTAL = """\
Local Job Id,Resource,Job Name,Nodes,Cores,Wall Time (h),Requested Wall Time (h),Exit Status,\
Read Bytes (GiB)
77,hpc,namd,2,256,1.5,2,COMPLETED,1.5
78,hpc,namd,,256,0.5,2,TIMEOUT,
"""
SUMMARIES = """\
jobid,uid,exe,nprocs,run_time,total_POSIX_READS,total_POSIX_BYTES_READ,total_POSIX_BYTES_WRITTEN,\
total_STDIO_BYTES_WRITTEN
5,100,/soft/e3sm.exe,1024,7200,2,8192,100,28
5,100,/soft/post.exe,16,3600,2,8192,,
6,100,,,7200,2,8192,100,28
"""
DOCUMENT = {
    "jobs": [
        {
            "job_id": 7,
            "name": "climate",
            "state": {"current": ["FAILED"]},
            "time": {"elapsed": 1800, "start": 5, "submission": 1},
            "tres": {"allocated": [{"type": "node", "count": 4}]},
            "steps": [
                {
                    "step": {"id": "7.0"},
                    "tasks": {"count": 8},
                    "tres": {
                        "requested": {"total": [{"type": "fs", "name": "disk", "count": 64}]},
                        "consumed": {"total": [{"type": "fs", "name": "disk", "count": 32}]},
                    },
                }
            ],
        }
    ]
}

TABLES: dict[str, tuple[str, list[Job]]] = {
    "steps.txt": (
        STEPS,
        [
            Job("7", 4, 8, 2.0, 1025, 4097, "climate", "completed"),
            Job("8", 2, 128, 24.0, 1 << 20, 0, "genes", "timed out"),
        ],
    ),
    "long.txt": (
        LONG,
        [
            Job("7", 4, None, 0.5, 0, 0, "hybrid", "completed"),
            Job("8", 4, 128, 0.5, 64, 32, "hybrid", "failed"),
        ],
    ),
    "batch.txt": (
        BATCH_ONLY,
        [
            Job("7", 4, None, 1.0, 0, 2048, "post", "completed"),
            Job("8", 1, None, 0.5, 0, 0, "bare", "failed"),
        ],
    ),
    "array.txt": (
        ARRAY,
        [
            Job("10_1", 2, None, 0.5, 0, 0, "ens", "completed"),
            Job("10_2", 3, None, 0.25, 0, 0, "ens", "failed"),
            Job("10_3", 1, None, 0.25, 0, 0, "ens", "cancelled"),
        ],
    ),
    "openpbs": (
        OPENPBS,
        [
            Job("7.pbs01", 2, 128, 1.0, 0, 0, "wrf", "completed"),
            Job("8_3.pbs01", 2, None, 7205 / 3600, 0, 0, "ens", "timed out"),
        ],
    ),
    "torque": (
        TORQUE,
        [
            Job("7.titan", 3, 40, 1.0, 0, 0, "STDIN", "failed"),
            Job("8.xe", 2, None, 1.0, 0, 0, "s3d", "completed"),
            Job("9.xe", 3, 64, 1 / 6, 0, 0, "s3d", "cancelled"),
        ],
    ),
    "cobalt": (COBALT, [Job("512", 128, None, 1.0, 0, 0, "hacc.exe", "completed")]),
    "log.swf": (
        SWF,
        [
            Job("1", 8, 128, 0.5, 0, 0, "app7", "completed"),
            Job("2", 1, 6, 1.0, 0, 0, None, "failed"),
        ],
    ),
    "total.txt": (DARSHAN, [Job("total", None, 512, 0.5, 4096, 128, "flash4")]),
    "plain.csv": (
        PLAIN,
        [
            Job("a", 4, 16, 0.5, 1 << 20, 2_000_000, "qmc", "completed"),
            Job("b", 4, None, 1.0, 0, 0, "qmc", "failed"),
        ],
    ),
    "portal.csv": (
        PORTAL,
        [
            Job("77", 2, None, 1.5, 3 << 29, 0, "namd", "completed"),
            Job("78", 4, 256, 0.5, 0, 0, "namd", "timed out"),
        ],
    ),
    "summaries.csv": (
        SUMMARIES,
        [
            Job("5", None, 1024, 2.0, 8192, 128, "e3sm.exe"),
            Job("5_2", None, 16, 1.0, 8192, 0, "post.exe"),
        ],
    ),
    "week.json": (json.dumps(DOCUMENT), [Job("7", 4, 8, 0.5, 64, 32, "climate", "failed")]),
}
LEFT_OUT = {"openpbs": "1 row ", "summaries.csv": "1 row "}


@pytest.mark.parametrize("name", TABLES)
def test_what_comes_out_of_each_kind_of_table(tmp_path: Path, name: str) -> None:
    text, jobs = TABLES[name]
    (tmp_path / name).write_text(text)
    found = read_job_table(tmp_path / name, cores=64)
    assert [Job.of(record) for record in found.records] == jobs
    assert found.left_out.startswith(LEFT_OUT.get(name, ""))
    assert bool(found.left_out) == (name in LEFT_OUT)
