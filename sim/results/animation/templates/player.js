"use strict";
// Plays the score of an animation: what is where at a time is told by its journeys, and drawn as SVG.
(() => {
  const score = JSON.parse(document.getElementById("score").textContent);
  const BEGIN = score.begin, END = score.end, SPAN = Math.max(END - BEGIN, 1);
  const INK = "#22262b", SOFT = "#565c64", PALE = "#c3c9d0", BOX = "#eef1f4", EDGE = "#8a929c";
  const KINDS = {
    write: { words: "write: data", colour: "#0072b2", shape: "circle" },
    read: { words: "read: data", colour: "#e69f00", shape: "circle" },
    lock: { words: "lock: enqueue, grant, blocking AST, cancel", colour: "#cc79a7", shape: "diamond" },
    metadata: { words: "metadata: to an MDS", colour: "#009e73", shape: "square" },
    sync: { words: "sync, glimpse, punch: to an OSS", colour: "#56b4e9", shape: "triangle" },
  };
  const NAMES = {
    node: "node", group: score.group, router: "LNET router", oss: "OSS", ost: "OST", mds: "MDS",
  };
  const DRAGONFLY = score.group === "group";
  const MODES = [["PR", "#e69f00"], ["PW", "#0072b2"], ["group", "#009e73"]];
  const BACK = "#d55e00", COMMIT = "#8a929c";
  const READING = 2500; // milliseconds for which words about a mark stay
  const SMALLEST = 640; // pixels of width below which the stage is narrow
  const ROOMY = 900; // and above which there is room for long names

  // What a journey does in a step: "m" moves to a place, "r" does so as a request or a reply, "l" and
  // "o" wait at its left and at its right, "s" is worked at inside of it.

  // ---------------------------------------------------------------- small helpers

  const byId = (id) => document.getElementById(id);
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  function make(name, attributes, parent, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    if (parent) parent.appendChild(element);
    return element;
  }

  /** Return how many of some ascending numbers are not above a value. */
  function countUpTo(sorted, value) {
    let low = 0, high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] <= value) low = middle + 1; else high = middle;
    }
    return low;
  }

  const ascending = (numbers) => Float64Array.from(numbers).sort();
  const UNIT = SPAN < 1e5 ? ["µs", 1e3] : SPAN < 2e9 ? ["ms", 1e6] : ["s", 1e9];
  const inUnit = (time, digits) => (time / UNIT[1]).toFixed(digits);
  const clock = (time) => `${inUnit(time, 3)} ${UNIT[0]}`;

  function bytes(size) {
    const units = ["B", "KiB", "MiB", "GiB"];
    let unit = 0;
    while (size >= 1024 && unit < 3) { size /= 1024; unit += 1; }
    return `${+size.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0)} ${units[unit]}`;
  }

  /** Return round numbers between two, so many at most. */
  function ticks(low, high, most, binary) {
    const least = (high - low) / Math.max(most, 1);
    let step = binary ? 1 : Math.pow(10, Math.floor(Math.log10(least)));
    if (binary) while (step < least) step *= 2;
    else for (const factor of [1, 2, 5, 10]) if (step * factor >= least) { step *= factor; break; }
    const found = [];
    for (let at = Math.ceil(low / step) * step; at <= high; at += step) found.push(at);
    return found;
  }

  // ---------------------------------------------------------------- time

  const journeys = score.journeys;
  for (const journey of journeys) {
    journey.end = journey.until.length ? journey.until[journey.until.length - 1] : journey.begin;
  }
  const TIMES = ["asked", "granted", "blocked", "returned", "ended"];
  const locks = score.locks ? score.locks.locks : [];
  const moments = (() => {
    const all = new Set([BEGIN, END]);
    for (const journey of journeys) {
      all.add(journey.begin);
      for (const time of journey.until) all.add(time);
    }
    for (const lock of locks) for (const name of TIMES) if (lock[name] !== null) all.add(lock[name]);
    return ascending([...all].filter((time) => time >= BEGIN && time <= END));
  })();
  const LENGTH = clamp(2 * Math.sqrt(moments.length), 12, 90); // seconds of watching at speed 1

  // A beat runs from 0 to 1 while one watches. Where more happens it has more of it for the same
  // time: a span between two moments has the square root of its length.
  const beats = new Float64Array(moments.length);
  for (let i = 1; i < moments.length; i++) {
    beats[i] = beats[i - 1] + Math.sqrt(moments[i] - moments[i - 1]);
  }
  const lastBeat = beats[beats.length - 1] || 1;

  /** Return where a value of one ascending list lies in another one. */
  function across(from, to, value) {
    const i = clamp(countUpTo(from, value), 1, from.length - 1);
    const width = from[i] - from[i - 1];
    const share = width > 0 ? (value - from[i - 1]) / width : 0;
    return to[i - 1] + clamp(share, 0, 1) * (to[i] - to[i - 1]);
  }

  const state = { now: BEGIN, playing: false, speed: 1, even: true, stamp: 0, pointed: 0 };

  const beatOf = (time) =>
    state.even ? across(moments, beats, time) / lastBeat : (time - BEGIN) / SPAN;
  const timeAt = (beat) =>
    state.even ? across(beats, moments, beat * lastBeat) : BEGIN + beat * SPAN;

  // ---------------------------------------------------------------- the stage

  const places = score.places.map(([kind, number, within]) => ({
    kind, number, within, name: `${NAMES[kind]} ${number}`,
  }));
  const ofKind = (kind) => places.filter((place) => place.kind === kind);
  places.forEach((place, index) => { place.index = index; });
  const mostBytes = Math.max(1, ...journeys.map((journey) => journey.bytes));

  /** The pairs of places between which anything goes. */
  const wires = (() => {
    const found = new Map();
    for (const journey of journeys) {
      let here = journey.origin;
      journey.place.forEach((there, i) => {
        if (there !== here) {
          const key = here < there ? `${here} ${there}` : `${there} ${here}`;
          const data = journey.doing[i] === "m";
          found.set(key, (found.get(key) || false) || data);
        }
        here = there;
      });
    }
    return [...found].map(([key, data]) => [...key.split(" ").map(Number), data]);
  })();

  /** When each OST had served how many bytes. */
  const moved = (() => {
    const found = new Map(ofKind("ost").map((place) => [place.index, []]));
    for (const journey of journeys) {
      if (!journey.bytes) continue;
      const at = [...journey.doing].findIndex((doing, i) =>
        doing === "s" && places[journey.place[i]].kind === "ost");
      if (at >= 0) found.get(journey.place[at]).push([journey.until[at], journey.bytes]);
    }
    for (const [place, served] of found) {
      served.sort((one, other) => one[0] - other[0]);
      let total = 0;
      const sums = [0, ...served.map(([, size]) => (total += size))];
      found.set(place, { times: ascending(served.map(([time]) => time)), sums });
    }
    return found;
  })();
  const mostMoved = Math.max(1, ...[...moved.values()].map(({ sums }) => sums[sums.length - 1]));

  const stage = {
    svg: byId("stage").querySelector("svg"), narrow: false, radius: 5,
    marks: [], counts: [], fills: new Map(),
  };

  /** Return the widths of boxes and of the room for queues, for a width of the stage in pixels. */
  function sizesFor(width) {
    const share = clamp((width - 400) / 800, 0, 1);
    const between = (least, most) => least + share * (most - least);
    return {
      node: between(40, 96), router: between(32, 90), oss: between(32, 74),
      ost: stage.narrow ? 44 : 124, // without room for its bytes, or with it
      queue: between(32, 96), room: between(24, 88), beside: between(28, 100),
    };
  }

  /** Give each place its box, for a width in pixels; return where the middle of the groups is. */
  function layOut(width) {
    const narrow = (stage.narrow = width < SMALLEST), size = sizesFor(width);
    stage.roomy = width >= ROOMY;
    stage.radius = narrow ? 3.2 : 5;
    stage.room = size.room;
    const columns = { node: ofKind("node"), router: ofKind("router"), ost: ofKind("ost") };
    const mdses = ofKind("mds"), slots = columns.ost.length + mdses.length;
    const rows = Math.max(columns.node.length, columns.router.length, slots);
    const top = 32, high = Math.max(rows * clamp(440 / rows, narrow ? 17 : 19, 48), 220);
    stage.height = top + high + 8;
    const ost = width - 4 - size.ost, oss = ost - size.queue - size.oss;
    const left = { node: 4, router: width * (narrow ? 0.555 : 0.54) - size.router / 2, oss, ost };
    const tall = (total) => clamp((high / Math.max(total, 1)) * 0.8, 13, 42);
    const put = (kind, place, i, total) =>
      setBox(place, left[kind], top + ((i + 0.5) * high) / total, size[kind], tall(total));
    for (const kind of ["node", "router"]) {
      columns[kind].forEach((place, i) => put(kind, place, i, columns[kind].length));
    }
    columns.ost.forEach((place, i) => put("ost", place, i, slots));
    mdses.forEach((place, i) => put("oss", place, columns.ost.length + i, slots));
    for (const place of ofKind("oss")) {
      const own = columns.ost.filter((one) => one.within === place.index);
      const middle = own.reduce((sum, one) => sum + one.y, 0) / Math.max(own.length, 1);
      setBox(place, oss, middle, size.oss, tall(slots));
    }
    stage.columns = ["node", ...(columns.router.length ? ["router"] : []), "oss", "ost"]
      .map((kind) => [kind, left[kind], size[kind]]);
    const middle = (left.node + size.node + left.router) / 2;
    const wide = (left.router - left.node - size.node) / 2 - size.beside;
    layOutGroups(middle, top + high / 2, Math.max(wide, narrow ? 12 : 30), high / 2 - 14);
    return middle;
  }

  function setBox(place, left, y, width, high) {
    Object.assign(place, { left, right: left + width, x: left + width / 2, y, high });
  }

  /** Put the groups on an ellipse: those of compute nodes on its left, the others on its right. */
  function layOutGroups(x, y, wide, high) {
    const near = (group) => places.filter((place) => place.within === group.index);
    const mean = (group) => {
      const own = near(group);
      return own.reduce((sum, place) => sum + place.y, 0) / Math.max(own.length, 1);
    };
    const withNodes = (group) => near(group).some((place) => place.kind === "node");
    const apart = ofKind("group").some((group) => !withNodes(group));
    const centre = apart ? x : x + wide / 2;
    for (const side of [true, false]) {
      const groups = ofKind("group").filter((group) => withNodes(group) === side);
      groups.sort((one, other) => mean(one) - mean(other));
      const radius = clamp((high * 1.6) / Math.max(groups.length, 1) / 2, 6, stage.narrow ? 9 : 16);
      groups.forEach((group, i) => {
        const angle = groups.length < 2 ? 0 : (-1.2 + (2.4 * i) / (groups.length - 1));
        const at = centre + (side ? -1 : 1) * wide * Math.cos(angle);
        const up = y + (high * Math.sin(angle)) / Math.sin(1.2) * 0.92;
        Object.assign(group, { left: at, right: at, x: at, y: up, high: 2 * radius, radius });
      });
    }
  }

  /** Return where a thing leaves a place, or comes to it, that has to do with another place. */
  function gate(place, other) {
    if (place.kind === "group") return [place.x, place.y];
    return [other.x > place.x ? place.right : place.left, place.y];
  }

  function drawStage() {
    const width = stage.svg.parentElement.clientWidth - 12;
    if (width <= 0) return;
    const middle = layOut(width);
    const svg = stage.svg;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${stage.height}`);
    svg.setAttribute("height", stage.height);
    const lines = make("g", { fill: "none" }, svg);
    const groups = DRAGONFLY ? ofKind("group") : []; // all of these are linked, of a torus few
    groups.forEach((one, i) => groups.slice(i + 1).forEach((other) =>
      make("path", { d: `M${one.x} ${one.y}L${other.x} ${other.y}`, stroke: PALE,
        "stroke-width": 0.6, opacity: 0.55 }, lines)));
    for (const [from, to, data] of wires) {
      const [x1, y1] = gate(places[from], places[to]), [x2, y2] = gate(places[to], places[from]);
      make("path", { d: `M${x1} ${y1}L${x2} ${y2}`, stroke: data ? EDGE : PALE,
        "stroke-width": data ? 0.9 : 0.7, opacity: data ? 0.6 : 0.4, ...(data ? {} : { "stroke-dasharray": "2 3" }) },
      lines);
    }
    for (const place of places) drawPlace(place, svg);
    nameColumns(middle, svg);
    stage.things = make("g", {}, svg);
    stage.numbers = make("g", { "font-size": stage.narrow ? 9 : 11, "font-weight": 600 }, svg);
    stage.marks = [];
    stage.counts = [];
  }

  function drawPlace(place, svg) {
    const small = stage.narrow;
    if (place.kind === "group") {
      make("circle", { cx: place.x, cy: place.y, r: place.radius, fill: "#ffffff", stroke: EDGE }, svg);
      make("text", { x: place.x, y: place.y + 3.5, "text-anchor": "middle",
        "font-size": clamp(place.radius, 7, 11) }, svg, place.number);
      return;
    }
    const corner = { x: place.left, y: place.y - place.high / 2, rx: 4, height: place.high };
    const width = place.right - place.left;
    make("rect", { ...corner, width, fill: BOX, stroke: EDGE }, svg);
    if (place.kind === "ost") {
      stage.fills.set(place.index, {
        bar: make("rect", { ...corner, width: 0, fill: "#b9cfe0" }, svg),
        words: make("text", { x: place.right - 4, y: label(place), "text-anchor": "end",
          "font-size": 10, style: `fill:${SOFT}` }, svg, ""),
        width,
      });
    }
    make("text", { x: place.left + (small ? 3 : 5), y: label(place), "font-size": small ? 9 : 11 },
      svg, nameIn(place));
  }

  /** Return what is written into a box; above its column stands what it is. */
  function nameIn(place) {
    if (place.kind === "mds") return stage.narrow ? "MDS" : place.name;
    if (stage.narrow) return place.number;
    if (place.kind === "router") return stage.roomy ? `router ${place.number}` : place.number;
    return place.name;
  }

  /** Return the line on which the name of a place is written. */
  const label = (place) => place.y - (place.high >= 25 ? place.high / 2 - 12 : -4);

  function nameColumns(middle, svg) {
    const words = stage.narrow
      ? { node: "nodes", router: "LNET", oss: "OSS", ost: "OST" }
      : { node: "compute nodes", router: "LNET routers", oss: "servers", ost: "OSTs" };
    const style = { y: 14, "font-size": stage.narrow ? 10 : 12, "font-weight": 600 };
    for (const [kind, left, width] of stage.columns) {
      const end = kind === "ost" && !stage.narrow;
      const x = kind === "node" ? left : end ? left + width : left + width / 2;
      const anchor = kind === "node" ? "start" : end ? "end" : "middle";
      make("text", { ...style, x, "text-anchor": anchor }, svg, words[kind]);
    }
    const long = DRAGONFLY ? `${score.network}: groups of the dragonfly`
      : score.group === "cabinet" ? "cabinets of the torus" : "the network";
    const aries = stage.roomy ? long : DRAGONFLY ? score.network : long.split(" ").pop();
    make("text", { ...style, x: middle, "text-anchor": "middle" }, svg, aries);
  }

  // ---------------------------------------------------------------- what is on the stage

  /** Return the number of the step in which a journey is at a time. */
  function stepAt(journey, time) {
    const until = journey.until;
    let step = 0;
    while (step < until.length - 1 && until[step] <= time) step += 1;
    return step;
  }

  const beginOf = (journey, step) => (step ? journey.until[step - 1] : journey.begin);
  const fromOf = (journey, step) => (step ? journey.place[step - 1] : journey.origin);

  /** Return all that is to be seen: a mark each, and the numbers beside full queues. */
  function seenAt(time) {
    const seen = [], resting = new Map();
    journeys.forEach((journey, index) => {
      if (journey.begin > time || journey.end <= time) return;
      const step = stepAt(journey, time), doing = journey.doing[step];
      const place = places[journey.place[step]];
      if (doing === "m" || doing === "r") {
        const from = places[fromOf(journey, step)], start = beginOf(journey, step);
        const share = (time - start) / Math.max(journey.until[step] - start, 1);
        const [x1, y1] = gate(from, place), [x2, y2] = gate(place, from);
        const aside = ((index % 5) - 2) * 1.6; // so that those of one time can be told apart
        seen.push({ index, hollow: doing === "r", x: x1 + share * (x2 - x1), y: y1 + share * (y2 - y1) + aside });
      } else {
        const key = `${place.index} ${doing}`;
        if (!resting.has(key)) resting.set(key, []);
        resting.get(key).push({ index, since: beginOf(journey, step), hollow: false });
      }
    });
    const numbers = [];
    for (const [key, queue] of resting) {
      const [place, side] = key.split(" ");
      queue.sort((one, other) => one.since - other.since || one.index - other.index);
      lineUp(places[place], side, queue, seen, numbers);
    }
    return [seen, numbers];
  }

  /** Put what rests at a place in its line: beside it, or inside. */
  function lineUp(place, side, queue, seen, numbers) {
    const cell = 2 * stage.radius + 1, inside = side === "s";
    if (place.kind === "group") {
      queue.forEach((one, i) => {
        const angle = 2.4 * i, far = 1.5 * cell * Math.sqrt(i / 6);
        seen.push({ ...one, x: place.x + far * Math.cos(angle), y: place.y + far * Math.sin(angle) });
      });
      return;
    }
    const named = inside && place.high >= 25; // its name stands above
    const high = named ? place.high - 15 : place.high;
    const rows = Math.max(1, Math.floor((high + 1) / cell));
    // What is worked at stands below the name of the place, or where the box is low, behind it.
    const behind = inside && !named && !stage.narrow ? (place.kind === "node" ? 60 : 44) : 0;
    const sum = behind && place.kind === "ost" ? 40 : 0;
    const room = inside ? place.right - place.left - 4 - behind - sum : stage.room;
    const most = rows * Math.max(1, Math.floor(room / cell));
    const middle = place.y + (named ? 6.5 : 0);
    const shown = Math.min(queue.length, most);
    const way = side === "l" ? -1 : 1, edge = inside ? place.left + 2 + behind
      : side === "l" ? place.left - 1 : place.right + 1;
    for (let i = 0; i < shown; i++) {
      const column = Math.floor(i / rows), line = i % rows;
      const tall = Math.min(shown, rows);
      seen.push({ ...queue[i], x: edge + way * cell * (column + 0.55),
        y: middle + (line - (tall - 1) / 2) * cell });
    }
    if (queue.length > shown) {
      numbers.push({ x: inside ? place.right : edge + way * room, y: place.y - place.high / 2 - 2,
        text: `+${queue.length - shown}`, anchor: side === "l" ? "start" : "end" });
    }
  }

  const SHAPES = {
    circle: (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
    diamond: (r) => `M0 ${-r}L${r} 0L0 ${r}L${-r} 0z`,
    square: (r) => `M${-r} ${-r}H${r}V${r}H${-r}z`,
    triangle: (r) => `M0 ${-r}L${r} ${0.8 * r}H${-r}z`,
  };

  function radiusOf(journey, hollow) {
    if (!journey.bytes) return stage.radius * 0.8;
    return hollow ? stage.radius * 0.6
      : Math.max(stage.radius * Math.sqrt(journey.bytes / mostBytes), stage.radius * 0.55);
  }

  function drawThings() {
    const [seen, numbers] = seenAt(Math.min(state.now, END - 1));
    while (stage.marks.length < seen.length) {
      stage.marks.push({ element: make("path", {}, stage.things), look: "", index: -1 });
    }
    stage.marks.forEach((mark, i) => {
      const one = seen[i];
      if (!one) { if (mark.look) { mark.element.setAttribute("display", "none"); mark.look = ""; } return; }
      const journey = journeys[one.index], kind = KINDS[journey.kind];
      const look = `${journey.kind} ${one.hollow} ${journey.bytes}`;
      if (mark.look !== look) {
        mark.element.removeAttribute("display");
        mark.element.setAttribute("d", SHAPES[kind.shape](radiusOf(journey, one.hollow)));
        const hollow = one.hollow && journey.bytes > 0;
        mark.element.setAttribute("fill", hollow ? "#ffffff" : kind.colour);
        mark.element.setAttribute("stroke", hollow ? kind.colour : "#ffffff");
        mark.element.setAttribute("stroke-width", hollow ? 1.8 : 0.6);
        mark.look = look;
      }
      mark.element.setAttribute("transform", `translate(${one.x.toFixed(1)} ${one.y.toFixed(1)})`);
      mark.element.dataset.journey = mark.index = one.index;
    });
    writeNumbers(numbers);
    for (const [place, { bar, words, width }] of stage.fills) {
      const { times, sums } = moved.get(place), sum = sums[countUpTo(times, state.now)];
      bar.setAttribute("width", ((width * sum) / mostMoved).toFixed(1));
      words.textContent = stage.narrow ? "" : bytes(sum);
    }
  }

  function writeNumbers(numbers) {
    while (stage.counts.length < numbers.length) stage.counts.push(make("text", {}, stage.numbers));
    stage.counts.forEach((element, i) => {
      const number = numbers[i];
      element.textContent = number ? number.text : "";
      if (number) {
        element.setAttribute("x", number.x);
        element.setAttribute("y", number.y);
        element.setAttribute("text-anchor", number.anchor);
      }
    });
  }

  // ---------------------------------------------------------------- locks

  const lanes = { svg: byId("lanes").querySelector("svg"), nodes: [], first: [], rows: 0 };
  const extents = { svg: byId("extents").querySelector("svg") };
  const MANY = 300; // locks of which a lane shows at a time

  function countRows() {
    const most = new Map();
    for (const lock of locks) {
      most.set(lock.node, Math.max(most.get(lock.node) || 0, lock.row + 1));
    }
    lanes.nodes = [...most.keys()].sort((one, other) => one - other);
    lanes.first = [0];
    for (const node of lanes.nodes) {
      lanes.rows += most.get(node);
      lanes.first.push(lanes.rows);
    }
    for (const lock of locks) {
      lock.lane = lanes.nodes.indexOf(lock.node);
      lock.parts = partsOf(lock);
    }
  }

  // Browsers place shapes with 32 bits: in nanoseconds they would run out of them.
  const FINE = 1e5 / SPAN;
  const fine = (time) => (time - BEGIN) * FINE;
  const EVER = (time) => (time === null ? END : time);

  /** Return the parts of the life of a lock: from, until, colour, share of the row's height. */
  function partsOf(lock) {
    const granted = EVER(lock.granted);
    const returned = Math.min(EVER(lock.returned), EVER(lock.ended)); // who is evicted sends no cancel
    const given = Math.min(EVER(lock.blocked), returned);
    return [
      [lock.asked, granted, PALE, 0.4],
      [granted, given, MODES[lock.mode][1], 0.86],
      [given, returned, BACK, 0.86],
      [returned, EVER(lock.ended), COMMIT, 0.4],
    ];
  }

  /** Draw the life of a lock into its row, and a tick for its blocking AST. */
  function drawLife(lock, top, row) {
    for (const [since, until, fill, share] of lock.parts) {
      if (until > since) {
        make("rect", { x: fine(since), y: top + (row * (1 - share)) / 2,
          width: fine(until) - fine(since), height: row * share, fill }, lanes.bars);
      }
    }
    if (lock.blocked !== null) {
      make("path", { d: `M${fine(lock.blocked)} ${top}v${row}`, stroke: INK, "stroke-width": 1.6,
        "vector-effect": "non-scaling-stroke" }, lanes.bars);
    }
  }

  function drawLanes() {
    const width = lanes.svg.parentElement.clientWidth - 12;
    if (width <= 0) return;
    const names = (lanes.left = width < SMALLEST ? 70 : 84), wide = width - names - 8;
    const row = clamp(Math.max(240, 14 * lanes.nodes.length) / lanes.rows, 0.8, 15), gap = 5;
    const y = (lane, at) => 6 + (lanes.first[lane] + at) * row + lane * gap;
    const bottom = y(lanes.nodes.length - 1, 0) + gap
      + (lanes.rows - lanes.first[lanes.nodes.length - 1]) * row;
    const height = bottom + 32, svg = lanes.svg;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
    const clip = make("clipPath", { id: "lanes-clip" }, make("defs", {}, svg));
    make("rect", { x: names, y: 0, width: wide, height: bottom }, clip);
    const inner = make("g", { "clip-path": "url(#lanes-clip)" }, svg);
    lanes.bars = make("g", {}, inner);
    for (const lock of locks) drawLife(lock, y(lock.lane, lock.row), row);
    lanes.future = make("rect", { y: 0, height: bottom, fill: "#ffffff", opacity: 0.75 }, inner);
    lanes.head = make("path", { stroke: INK, "stroke-width": 1.5 }, svg);
    lanes.nodes.forEach((node, lane) => {
      const middle = (y(lane, 0) + y(lane, 0) + (lanes.first[lane + 1] - lanes.first[lane]) * row) / 2;
      nameRow(svg, names, middle, node);
      if (lane) make("path", { d: `M0 ${y(lane, 0) - gap / 2}H${width}`, stroke: PALE, "stroke-width": 0.6 }, svg);
    });
    lanes.axis = make("g", { "font-size": 11 }, svg);
    Object.assign(lanes, { wide, bottom, width, shown: "" });
  }

  function nameRow(svg, names, y, node) {
    make("text", { x: names - 6, y: y + 4, "text-anchor": "end", "font-size": 11 }, svg,
      places[node].name);
  }

  /** Move the lanes so that the present is in sight, and hide what is still to come. */
  function moveLanes() {
    const share = Math.min(1, MANY / Math.max(locks.length, 1)), width = SPAN * share;
    const since = clamp(state.now - width / 2, BEGIN, END - width);
    const scale = lanes.wide / width, x = (time) => lanes.left + (time - since) * scale;
    const at = x(state.now);
    lanes.bars.setAttribute("transform", `translate(${x(BEGIN)} 0) scale(${scale / FINE} 1)`);
    lanes.future.setAttribute("x", at);
    lanes.future.setAttribute("width", Math.max(lanes.left + lanes.wide - at, 0));
    lanes.head.setAttribute("d", `M${at} 0V${lanes.bottom}`);
    if (share === 1 && lanes.shown) return;
    lanes.shown = "drawn";
    drawAxis(lanes.axis, ticks(since / UNIT[1], (since + width) / UNIT[1], lanes.wide / 90)
      .map((tick) => [x(tick * UNIT[1]), +tick.toFixed(6)]), lanes, `simulated time (${UNIT[0]})`);
  }

  function drawAxis(axis, marks, box, name) {
    axis.replaceChildren();
    const y = box.bottom;
    make("path", { d: `M${box.left} ${y}H${box.left + box.wide}`, stroke: EDGE }, axis);
    for (const [x, words] of marks) {
      make("path", { d: `M${x} ${y}v4`, stroke: EDGE }, axis);
      const last = x > box.left + box.wide - 20;
      make("text", { x: last ? box.left + box.wide : x, y: y + 15,
        "text-anchor": last ? "end" : "middle" }, axis, words);
    }
    make("text", { x: box.left + box.wide, y: y + 28, "text-anchor": "end", style: `fill:${SOFT}` },
      axis, name);
  }

  function drawExtents() {
    const svg = extents.svg, width = svg.parentElement.clientWidth - 12;
    if (width <= 0) return;
    const left = width < SMALLEST ? 70 : 84, wide = width - left - 8;
    const row = clamp(220 / lanes.nodes.length, 13, 22), bottom = 6 + row * lanes.nodes.length;
    Object.assign(extents, { left, wide, row, bottom });
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${bottom + 32}`);
    svg.setAttribute("height", bottom + 32);
    lanes.nodes.forEach((node, lane) => {
      nameRow(svg, left, 3 + row * (lane + 0.5), node);
      make("path", { d: `M${left} ${3 + row * (lane + 1)}H${left + wide}`, stroke: PALE,
        "stroke-width": 0.5 }, svg);
    });
    extents.bars = make("g", {}, svg);
    const size = score.locks.size;
    const marks = ticks(0, size, wide / 90, true).map((tick) => [left + (wide * tick) / size, bytes(tick)]);
    drawAxis(make("g", { "font-size": 11 }, svg), marks, extents, "byte of the object");
  }

  /** Draw who holds which extent now, who waits for one, and who gives one back. */
  function moveExtents() {
    const { bars, left, wide, row } = extents, size = score.locks.size, time = state.now;
    bars.replaceChildren();
    for (const lock of locks) {
      if (lock.asked > time) break; // they stand in the order of the asking
      const at = lock.parts.find(([since, until]) => since <= time && (time < until || until === END && time === END));
      if (!at) continue;
      const lane = lock.lane, waits = time < EVER(lock.granted);
      const high = row * (at[3] > 0.5 ? 0.72 : 0.34);
      const x = left + (wide * lock.from) / size;
      make("rect", { x, y: 3 + row * (lane + 0.5) - high / 2, height: high, rx: 2,
        width: Math.max((wide * (lock.to - lock.from)) / size, 2),
        fill: waits ? "#ffffff" : at[2], stroke: waits ? SOFT : at[2], "stroke-width": 1.2,
        ...(waits ? { "stroke-dasharray": "3 2" } : {}) }, bars);
    }
  }

  const counted = Object.fromEntries(TIMES.map((name) =>
    [name, ascending(locks.map((lock) => lock[name]).filter((time) => time !== null))]));

  function tally() {
    const count = (name) => countUpTo(counted[name], state.now);
    const words = [
      `asked for ${count("asked")}`, `granted ${count("granted")}`,
      `blocking ASTs ${count("blocked")}`, `cancels ${count("returned")}`,
      `removed ${count("ended")}`, `waiting now ${count("asked") - count("granted")}`,
    ];
    byId("tally").textContent = words.join(" · ");
  }

  // ---------------------------------------------------------------- words

  const events = (() => {
    const found = [];
    journeys.forEach((journey, index) => {
      for (let step = 0; step <= journey.until.length; step++) {
        found.push([step ? journey.until[step - 1] : journey.begin, index, step]);
      }
    });
    return found.sort((one, other) => one[0] - other[0] || one[1] - other[1] || one[2] - other[2]);
  })();
  const eventTimes = Float64Array.from(events, ([time]) => time);

  function nameOf(journey) {
    const all = [journey.origin, ...journey.place].map((place) => places[place]);
    const node = all.find((place) => place.kind === "node");
    const size = journey.bytes ? ` of ${bytes(journey.bytes)}` : "";
    return `${node ? node.name : ""}: ${journey.what}${size}`;
  }

  /** Say how a journey ends. */
  function toldLast(journey) {
    if (!journey.over) return "still under way at the end";
    if (journey.kind === "lock") return journey.what.endsWith("back") ? "removed" : "granted";
    return journey.kind === "read" ? "the client has the data" : "the client has the reply";
  }

  /** Say what a journey does in a step. */
  function told(journey, step) {
    if (step >= journey.until.length) return toldLast(journey);
    const place = places[journey.place[step]], doing = journey.doing[step];
    if (doing === "m") return `the data goes to ${place.name}`;
    if (doing === "r") return `goes to ${place.name}`;
    if (doing === "l" || doing === "o") {
      const lock = journey.kind === "lock" ? "until nothing is in its way " : "";
      return `waits ${lock}at ${place.name}`;
    }
    if (place.kind === "ost") return `at the disks of ${place.name}`;
    if (place.kind === "group") return `held up on links of the network, ${place.name}`;
    if (place.kind !== "node") {
      return journey.kind === "lock" ? `removed after the journal commit at ${place.name}`
        : `served by ${place.name}`;
    }
    if (journey.kind === "lock") return "what is dirty below it is written back";
    return journey.kind === "read" ? "the OSC sends it" : "waits in the OSC until the OSS asks for the data";
  }

  function sayNow() {
    if (performance.now() < state.pointed) return; // what was pointed at can be read in peace
    const last = countUpTo(eventTimes, state.now) - 1;
    if (last < 0) return;
    const [time, index, step] = events[last];
    byId("now").textContent = `${clock(time)}: ${nameOf(journeys[index])}, ${told(journeys[index], step)}`;
  }

  function sayPointed(event) {
    const index = event.target.dataset ? event.target.dataset.journey : undefined;
    if (index === undefined) return;
    const journey = journeys[index], step = stepAt(journey, Math.min(state.now, END - 1));
    state.pointed = performance.now() + READING;
    byId("now").textContent = `${nameOf(journey)}, ${told(journey, step)}; under way from `
      + `${clock(journey.begin)} to ${clock(journey.end)}`;
  }

  // ---------------------------------------------------------------- the player

  function draw() {
    byId("time").textContent = clock(state.now);
    const slider = byId("slider");
    slider.value = Math.round(((state.now - BEGIN) / SPAN) * 10000);
    slider.setAttribute("aria-valuetext", clock(state.now));
    if (stage.things) drawThings();
    if (locks.length && lanes.bars) {
      moveLanes();
      moveExtents();
      tally();
    }
    sayNow();
  }

  function drawAll() {
    drawStage();
    drawPhases();
    if (locks.length) {
      drawLanes();
      drawExtents();
    }
    draw();
  }

  function sayPace() {
    const rate = (SPAN / LENGTH) * state.speed;
    const [unit, size] = rate < 1e6 ? ["µs", 1e3] : rate < 1e9 ? ["ms", 1e6] : ["s", 1e9];
    byId("of").textContent = `of ${clock(END)} simulated; a second of watching shows `
      + `${(rate / size).toPrecision(3)} ${unit}${state.even ? " on average" : ""}`;
  }

  function frame(stamp) {
    if (!state.playing) return;
    const passed = clamp(stamp - state.stamp, 0, 100) / 1000;
    state.stamp = stamp;
    const beat = beatOf(state.now) + (passed * state.speed) / LENGTH;
    state.now = beat >= 1 ? END : timeAt(beat);
    draw();
    if (beat >= 1) play(false);
    else requestAnimationFrame(frame);
  }

  function play(on) {
    if (on && state.now >= END) state.now = BEGIN;
    const begins = on && !state.playing;
    state.playing = on;
    byId("play").textContent = on ? "Pause" : "Play";
    byId("now").setAttribute("aria-live", on ? "off" : "polite");
    if (begins) {
      state.stamp = performance.now();
      requestAnimationFrame(frame);
    }
  }

  function goTo(time) {
    play(false);
    state.pointed = 0;
    state.now = clamp(time, BEGIN, END);
    draw();
  }

  function step(way) {
    const next = way > 0 ? countUpTo(moments, state.now) : countUpTo(moments, state.now - 0.5) - 1;
    goTo(moments[clamp(next, 0, moments.length - 1)]);
  }

  function setSpeed(way) {
    const speed = byId("speed");
    speed.selectedIndex = clamp(speed.selectedIndex + way, 0, speed.length - 1);
    state.speed = Number(speed.value);
    sayPace();
  }

  function onKey(event) {
    const { key, target } = event, tag = target.tagName;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const typed = tag === "SELECT" || (tag === "INPUT" && target.type === "checkbox");
    const acts = {
      " ": tag === "BUTTON" || typed ? null : () => play(!state.playing),
      ArrowLeft: typed ? null : () => step(-1),
      ArrowRight: typed ? null : () => step(1),
      "+": () => setSpeed(1),
      "-": () => setSpeed(-1),
      f: document.fullscreenEnabled ? fill : null,
    };
    if (!acts[key]) return;
    event.preventDefault();
    acts[key]();
  }

  function drawPhases() {
    const svg = byId("phases"), width = svg.clientWidth, edge = 8; // half of the slider's thumb
    if (width <= 0) return;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} 18`);
    const x = (time) => edge + ((width - 2 * edge) * (time - BEGIN)) / SPAN;
    for (const [name, spans] of score.phases) {
      for (const [since, until] of spans) {
        const wide = x(Math.min(until, END)) - x(Math.max(since, BEGIN));
        if (wide <= 0) continue;
        const left = x(Math.max(since, BEGIN));
        make("rect", { x: left, y: 1, width: Math.max(wide - 1, 0.5), height: 15, rx: 2 }, svg);
        if (wide > 7 * name.length + 6) {
          make("text", { x: left + wide / 2, y: 12, "text-anchor": "middle" }, svg, name);
        }
      }
    }
  }

  function legend(list, entries) {
    for (const [words, draws] of entries) {
      const item = document.createElement("li");
      draws(make("svg", { width: 18, height: 14, viewBox: "-9 -7 18 14", "aria-hidden": "true" }, item));
      item.append(words);
      list.append(item);
    }
  }

  function drawLegends() {
    const used = new Set(journeys.map((journey) => journey.kind));
    const kinds = Object.entries(KINDS).filter(([kind]) => used.has(kind));
    const marks = kinds.map(([, { words, colour, shape }]) => [words, (svg) =>
      make("path", { d: SHAPES[shape](4.6), fill: colour }, svg)]);
    marks.push(["request or reply of these", (svg) =>
      make("path", { d: SHAPES.circle(3.4), fill: "#ffffff", stroke: SOFT, "stroke-width": 1.8 }, svg)]);
    legend(byId("kinds"), marks);
    const bar = (fill, high) => (svg) =>
      make("rect", { x: -9, y: -high / 2, width: 18, height: high, fill }, svg);
    const modes = MODES.map(([mode, colour], i) => [`${mode} lock held`, bar(colour, 12), i])
      .filter(([, , i]) => locks.some((lock) => lock.mode === i));
    const dashed = { fill: "#ffffff", stroke: SOFT, "stroke-dasharray": "3 2" };
    const waits = (svg) => make("rect", { x: -8, y: -3.5, width: 16, height: 7, ...dashed }, svg);
    legend(byId("stages"), [["bytes waited for", waits], ["asked for, waits", bar(PALE, 6)], ...modes,
      ["blocking AST", (svg) => make("path", { d: "M0 -7V7", stroke: INK, "stroke-width": 2 }, svg)],
      ["called back: write-back", bar(BACK, 12)], ["cancelled: commit at the OST", bar(COMMIT, 6)]]);
  }

  function fill() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen();
  }

  function listen() {
    byId("play").addEventListener("click", () => play(!state.playing));
    byId("back").addEventListener("click", () => step(-1));
    byId("step").addEventListener("click", () => step(1));
    byId("full").hidden = !document.fullscreenEnabled;
    byId("full").addEventListener("click", fill);
    byId("speed").addEventListener("change", () => setSpeed(0));
    byId("even").addEventListener("change", (event) => { state.even = event.target.checked; sayPace(); });
    byId("slider").addEventListener("input", (event) => goTo(BEGIN + (SPAN * event.target.value) / 10000));
    for (const name of ["pointerover", "pointerdown"]) stage.svg.addEventListener(name, sayPointed);
    document.addEventListener("keydown", onKey);
    let width = 0;
    new ResizeObserver(() => {
      if (byId("stage").clientWidth !== width) { width = byId("stage").clientWidth; drawAll(); }
    }).observe(byId("stage"));
  }

  byId("told").textContent = score.told;
  if (locks.length) {
    byId("locks-told").textContent = score.locks.told;
    // What clients fight for belongs into the first screen.
    const fought = locks.some((lock) => lock.blocked !== null);
    document.querySelector("main").classList.toggle("fought", fought);
    countRows();
  } else {
    byId("locks").hidden = true;
  }
  drawLegends();
  listen();
  drawAll();
  sayPace();
  play(!window.matchMedia("(prefers-reduced-motion: reduce)").matches);
})();
