// Strips over time: look closer with the wheel, the buttons or the keyboard, drag, read values.
for (const figure of document.querySelectorAll('.axis')) {
  const steps = +figure.dataset.steps, step = +figure.dataset.step;
  const plots = [...figure.querySelectorAll('.plot')];
  const data = plots.map(plot => JSON.parse(plot.querySelector('script').textContent));
  const drawings = plots.map(plot => plot.querySelector('svg'));
  const said = figure.querySelector('output'), ticks = figure.querySelector('.ticks');
  const units = [[1, 's'], [1e-3, 'ms'], [1e-6, 'us']];
  let from = 0, to = steps, held = null;

  function mark() {
    const [first, last] = [from * step, to * step];
    const [factor, unit] = units.find(each => last - first >= 5 * each[0]) || units[2];
    const whole = (last - first) / factor, rough = whole / 7;
    const power = 10 ** Math.floor(Math.log10(rough));
    const wide = [1, 2, 5, 10].map(of => power * of).find(of => of >= rough * 0.999);
    ticks.replaceChildren();
    for (let at = Math.ceil(first / factor / wide - 1e-6); at * wide <= last / factor; at++) {
      const place = (at * wide - first / factor) / whole;
      if (place > 0.97) break;
      const label = document.createElement('span');
      label.style.left = `${100 * place}%`;
      if (place > 0.88) label.className = 'end';
      label.textContent = (at * wide || 0).toLocaleString('en', {maximumFractionDigits: 9});
      ticks.append(label);
    }
    figure.querySelector('.unit').textContent = unit;
  }

  function show(first, last) {
    const wide = Math.min(Math.max(last - first, 4), steps);
    from = Math.min(Math.max(first, 0), steps - wide);
    to = from + wide;
    for (const drawing of drawings) {
      const high = drawing.viewBox.baseVal.height;
      drawing.setAttribute('viewBox', `${from} 0 ${wide} ${high}`);
    }
    for (const line of figure.querySelectorAll('.here')) line.style.display = 'none';
    figure.querySelector('[data-do=whole]').disabled = wide === steps;
    mark();
  }

  function closer(factor, place = 0.5) {
    const wide = (to - from) * factor, at = from + (to - from) * place;
    show(at - wide * place, at + wide * (1 - place));
  }

  function read(place, plot, part) {
    const at = Math.min(Math.floor(from + (to - from) * place), steps - 1);
    const which = plots.indexOf(plot), {names, values} = data[which];
    const time = (at * step).toLocaleString('en', {maximumSignificantDigits: 5});
    const unit = plot.dataset.unit;
    const tell = row => `${names[row]} ${(values[row][at] ?? 0).toLocaleString('en')} ${unit}`;
    const rows = 'rows' in plot.dataset;
    const row = Math.min(Math.floor(part * names.length), names.length - 1);
    said.textContent = `${time} s: ` + (rows ? tell(row) : names.map((_, each) => tell(each)).join(', '));
    for (const line of figure.querySelectorAll('.here')) {
      line.style.display = 'block';
      line.style.left = `${100 * place}%`;
    }
  }

  for (const plot of plots) {
    const where = event => {
      const box = plot.getBoundingClientRect();
      return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    };
    plot.addEventListener('wheel', event => {
      const closest = event.deltaY < 0 && to - from <= 4, widest = event.deltaY > 0 && to - from >= steps;
      if (closest || widest) return;  // the page scrolls
      event.preventDefault();
      closer(event.deltaY < 0 ? 0.8 : 1.25, where(event)[0]);
    }, {passive: false});
    plot.addEventListener('pointerdown', event => {
      held = {x: event.clientX, from, to};
      plot.setPointerCapture(event.pointerId);
    });
    plot.addEventListener('pointermove', event => {
      if (held) {
        const by = (held.x - event.clientX) / plot.clientWidth * (held.to - held.from);
        show(held.from + by, held.to + by);
      }
      const [x, y] = where(event);
      if (x >= 0 && x < 1) read(x, plot, Math.min(Math.max(y, 0), 0.999));
    });
    for (const end of ['pointerup', 'pointercancel']) plot.addEventListener(end, () => { held = null; });
  }

  const acts = {
    closer: () => closer(0.5), wider: () => closer(2),
    earlier: () => show(from - (to - from) / 2, to - (to - from) / 2),
    later: () => show(from + (to - from) / 2, to + (to - from) / 2),
    whole: () => show(0, steps),
  };
  for (const button of figure.querySelectorAll('button')) {
    button.addEventListener('click', acts[button.dataset.do]);
  }
  figure.querySelector('.tools').hidden = false;
  show(0, steps);
}
