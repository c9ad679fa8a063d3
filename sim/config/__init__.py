"""Machines and scenarios as models that are checked, and what both are read from and written to.

From the ground up:

* ``errors``, ``units``, ``files`` and the folder ``text``: how what people write is read, and what
  is said where it is wrong. ``model`` is the base of every description, ``kept`` of what is saved.
* ``machine``, of the folder ``parts``: the file of a machine, value by value with its source.
* ``scenario``, with ``asked_workload``, ``striping``, ``faults`` and ``fault_forms``: one job on a
  machine. ``job_form`` has its fields as options, tools and the explorer ask for them.
* ``jobs``, ``stream``, ``workload_mix``: several jobs; ``scenario_text`` writes any of these out.
"""
