"""How the page of a report looks: on a wide screen, on a phone, on paper, light and dark."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #22262b; --soft: #5b6470; --line: #d9dde2; --shade: #f4f6f8;
  --good: #1a6e3c; --bad: #b3261e; --open: #5b6470;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16181c; --ink: #e6e8eb; --soft: #a3abb5; --line: #343a42; --shade: #1e2126;
    --good: #6fcf97; --bad: #ff8a80; --open: #a3abb5;
  }
  figure svg { filter: brightness(1.25); }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 68rem; padding: 1rem 1rem 4rem;
  background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: 1rem 0 0.5rem; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 0.5rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.8rem 0 0.4rem; }
p { margin: 0.4rem 0; max-width: 46rem; }
a { color: inherit; }
nav { display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; }
nav a { white-space: nowrap; }
small, .soft { color: var(--soft); font-size: 0.875rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.7rem 0.3rem 0; }
th { color: var(--soft); font-weight: 600; }
tbody tr { border-top: 1px solid var(--line); }
tbody tr.part { border-top: 0; }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.id { white-space: nowrap; font-variant-numeric: tabular-nums; }
.pass { color: var(--good); } .fail { color: var(--bad); font-weight: 600; }
.none { color: var(--open); }
figure { margin: 0.5rem 0 0; }
figure svg { display: block; width: 100%; height: auto; max-width: 46rem; }
figure.wide svg { max-width: 60rem; min-width: 44rem; }
figcaption { color: var(--soft); font-size: 0.875rem; max-width: 46rem; margin-top: 0.3rem; }
details { margin: 0.6rem 0; }
summary { cursor: pointer; }
@media (max-width: 40rem) {
  table.claims thead { display: none; }
  table.claims, table.claims tbody, table.claims tr, table.claims td { display: block; }
  table.claims tr { padding: 0.5rem 0; }
  table.claims tr.part { padding: 0 0 0.3rem 1rem; }
  table.claims td { padding: 0; text-align: left; white-space: normal; }
  table.claims td:empty { display: none; }
  table.claims td[data-name]::before { content: attr(data-name) ": "; color: var(--soft); }
}
@media print {
  body { max-width: none; }
  nav { display: none; }
  tr, figure { break-inside: avoid; }
}
"""
