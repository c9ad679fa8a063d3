"""Documents are written anew with what their examples print, and nothing else in them changes."""

from __future__ import annotations

import pytest
from docs_outputs import main, mended, renew
from documents import examples

SMALL = "xc40io ior --nodes 1 --ppn 1 -- -w -b 1m -t 1m"
TEXT = f"""# A page with 1 example

```yaml mine.yaml
machine: theta
nodes: 2
ppn: 3
workload: {{ior: -w -b 1m -t 1m}}
```

```console
$ xc40io run mine.yaml --print
nodes: 2
ppn: 3
...
$ make coffee
no coffee
$ {SMALL}
...
nodes               : 1
...
```

```python
print(6 * 7, "is the answer")
```

```text output
42 is the answer
```

```console not run: nobody has this file
$ xc40io run nobody.yaml
```
"""


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def as_written(path):
    """Return what a write changes of a file: all but when it was read."""
    of = path.stat()
    return of.st_ino, of.st_dev, of.st_mode, of.st_nlink, of.st_size, of.st_mtime_ns, of.st_ctime_ns


def test_what_is_right_stays(page):
    before = as_written(page)
    assert renew(page) == (0, [])
    assert as_written(page) == before


def test_stale_figures_are_found_and_mended(page):
    page.write_text(TEXT.replace("ppn: 3\n...", "ppn: 4\n...").replace("42 is", "41 is"))
    assert [mended(example) for example in examples(page)] == [
        {13: "ppn: 3"},
        {28: "42 is the answer"},
    ]
    assert renew(page) == (2, [])
    assert page.read_text(encoding="utf-8") == TEXT
    assert [path.name for path in page.parent.iterdir()] == ["page.md"]


def test_a_command_that_fails_is_told_with_document_and_line(page, capsys):
    page.write_text(TEXT.replace("run mine.yaml", "run yours.yaml").replace("42 is", "41 is"))
    assert main([str(page)]) == 1
    output = capsys.readouterr()
    assert output.out == "page.md: 1 line written anew, but for what is told below\n"
    assert "page.md:11: 'xc40io run yours.yaml --print' ended with 2: " in output.err
    assert "yours.yaml" in output.err
