"""What all components of the data plane share: programs and their operations, files, the books.

From the ground up:

* ``operations``, ``library_calls`` and ``batch``: what programs are to do, put together by control.
* ``causes``, ``counters`` and ``stations``: what is counted, and what it is called.
* ``site``, ``files``, ``recorder``, ``registry``, ``programs``: what components are built on and
  registered with. ``control`` performs what needs no file, ``lateness`` ends meetings.
* ``fault_course``: how any fault goes, which the rooms of the parts fill; ``pace``: that of ranks.
"""
