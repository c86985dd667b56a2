// A trial's timeline: lanes, the latency chart, one cursor over all of them, and the same events as a table.

/** The timeline as a section; `moment` is when the deciding check was decided, in seconds since the agent's start, or null. */
function timelineSection(timeline, verdict, moment) {
  const scale = makeScale(timeline.start, timeline.end);
  const lanes = allLanes(timeline, verdict, scale);
  const rail = h('div', { class: 'rail' });
  const body = h('div', { class: 'lanes' }, axis(scale), lanes.map((one) => one.element), chartSlot(timeline), rail);
  const readout = h('p', { class: 'readout' });
  const group = h('div', {
    class: 'timeline', role: 'application', tabindex: '0', 'aria-roledescription': 'timeline',
    'aria-label': 'Timeline. Arrow keys move the cursor, plus and minus zoom, 0 shows all, brackets jump between events.',
  }, body);
  const state = { timeline, scale, lanes, rail, body, readout, group, cursor: null, chart: null, events: eventsOf(timeline, moment) };
  markers(state, moment);
  pointer(state);
  group.addEventListener('keydown', (event) => timelineKey(state, event));
  const section = h('section', { class: 'block', id: 'timeline', 'aria-labelledby': 'timeline-title' },
    h('h2', { id: 'timeline-title', tabindex: '-1' }, 'Timeline'), h('div', { class: 'timeline-head' }, readout, phases(state)), group, legend(), eventTable(state));
  showCursor(state, null);
  whenLaidOut(section, body, () => draw(state));
  return section;
}

/** Buttons that show one phase of the episode: before the agent, the agent, what came after. */
function phases({ timeline, scale, body }) {
  const until = timeline.agent_ended ?? timeline.declared ?? timeline.end;
  const spans = [['All', timeline.start, timeline.end], ['Before', timeline.start, 0], ['Agent', 0, until], ['Challenges', until, timeline.end]];
  const buttons = spans.filter(([, from, to]) => to - from > 10).map(([name, from, to]) => {
    const margin = name === 'All' ? 0 : 0.02 * (to - from);
    const button = h('button', { type: 'button', onclick: () => scale.zoom(from - margin, to + margin) }, name);
    const pressed = () => button.setAttribute('aria-pressed', String(scale.isAt(from - margin, to + margin)));
    scale.onchange(pressed);
    pressed();
    return button;
  });

  return h('div', { class: 'phases', role: 'group', 'aria-label': 'Part of the timeline that is shown' }, buttons);
}

/** Draw once the section is on the page, and again when its width or the theme changes. */
function whenLaidOut(section, body, redraw) {
  let width = 0;
  const observer = new ResizeObserver(() => {
    if (!section.isConnected) return observer.disconnect();
    if (body.clientWidth && body.clientWidth !== width) {
      width = body.clientWidth;
      redraw();
    }
    return undefined;
  });
  observer.observe(body);
  const themed = () => (section.isConnected ? redraw() : document.removeEventListener('themechange', themed));
  document.addEventListener('themechange', themed);
}

function allLanes(timeline, verdict, scale) {
  const repaired = new Map((verdict?.tracked ?? []).map((fault) => [fault.fault, fault.repaired]));
  const repairedText = (fault) => {
    if (!repaired.has(fault)) return '';
    const at = repaired.get(fault);
    return at === null ? 'not repaired' : `clear ${clock(at - timeline.origin)}`;
  };
  const changes = timeline.acts.filter((act) => act.kind === 'change');
  const reads = timeline.acts.filter((act) => act.kind === 'read');
  const windows = (verdict?.windows ?? []).map((window) => ({
    start: window.start - timeline.origin, end: window.end - timeline.origin, state: 'window', text: window.name,
  }));
  return [
    stageLane(timeline.stages, scale),
    windows.length > 0 && windowLane(windows, scale),
    ...timeline.kinds.map((kind, number) => successLane(timeline, kind, scale, kind.judged && number < HUES ? number : null)),
    ...timeline.observers.map((one) => stateLane(one.name, one.spans, scale, { summary: repairedText(one.name), help: `Observer of ${one.name}` })),
    actLane('Changes', changes, scale, { look: 'changes', summary: String(verdict?.changes ?? changes.length) }),
    actLane('Reads', reads, scale, { look: 'reads', summary: String(verdict?.reads ?? reads.length) }),
    ...timeline.health.map((one) => stateLane(`Harness: ${one.name}`, one.spans, scale)),
  ].filter(Boolean);
}

function windowLane(windows, scale) {
  const named = windows.map((window) => ({ ...window, state: 'ok', text: window.text }));
  const made = stageLane(named, scale);
  made.element.classList.add('window-lane');
  made.element.querySelector('.lane-label').textContent = 'Judged windows';
  return made;
}

function axis(scale) {
  const plot = h('div', { class: 'lane-plot axis' });
  const place = () => {
    const found = ticks(scale, plot.clientWidth || 600);
    plot.replaceChildren(...found.map((tick) => h('span', { class: 'tick', style: { left: `${100 * scale.at(tick)}%` } }, clock(tick))));
  };
  scale.onchange(place);
  const element = h('div', { class: 'lane axis-lane', 'aria-hidden': 'true' }, h('div', { class: 'lane-label' }, 'since agent start'), plot, h('div', { class: 'lane-value' }));
  element.place = place;
  return element;
}

function chartSlot(timeline) {
  return timeline.kinds.length > 0 && h('div', { class: 'chart', 'aria-hidden': 'true' });
}

/** Put everything in its place: boxes, ticks, markers, and the chart anew. */
function draw(state) {
  state.body.querySelector('.axis-lane').place();
  state.lanes.forEach((one) => one.place?.());
  placeMarkers(state);
  const slot = state.body.querySelector('.chart');
  if (slot) drawChart(state, slot);
}

/** p95 latency of each judged kind on a logarithmic axis, by uPlot. */
function drawChart(state, slot) {
  const { timeline, scale } = state;
  const style = getComputedStyle(state.body);
  const colour = (name) => style.getPropertyValue(name).trim();
  const middle = timeline.kinds[0].n.map((_, bin) => timeline.start + (bin + 0.5) * timeline.step);
  const kinds = timeline.kinds.slice(0, HUES).filter((kind) => kind.judged);
  const rows = kinds.length ? kinds : timeline.kinds.slice(0, HUES);
  const line = { stroke: colour('--line'), width: 1 };
  const gutter = parseFloat(colour('--gutter'));
  state.chart?.destroy();
  slot.replaceChildren();
  state.chart = new uPlot({
    width: slot.clientWidth, height: 150, padding: [10, parseFloat(colour('--values')), 6, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false, range: () => [scale.from, scale.to] }, y: { distr: 3, range: latencyRange } },
    axes: [
      { show: false },
      { size: gutter, stroke: colour('--muted'), font: colour('--chart-font'), grid: line, ticks: { show: false }, gap: 10, splits: decades,
        values: (_, splits) => splits.map((value) => (value === null ? '' : latency(value))) },
    ],
    series: [{}, ...rows.map((kind) => ({ label: kind.name, stroke: colour(`--hue-${timeline.kinds.indexOf(kind)}`), width: 1.5,
      points: { show: false }, spanGaps: true }))],
  }, [middle, ...rows.map((kind) => kind.p95.map((value) => (value === null ? null : Math.max(value, 1) / 1000)))], slot);
  if (!state.watched) scale.onchange(() => { placeMarkers(state); state.chart?.setScale('x', { min: scale.from, max: scale.to }); });
  state.watched = true;
  slot.prepend(h('div', { class: 'chart-label' }, 'p95 latency'));
}

/** Whole decades around the data, so that a logarithmic axis has round ends. */
function latencyRange(_, low, high) {
  if (!(low > 0)) return [0.01, 1];
  return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high * 1.02))];
}

function decades(_, axis, low, high) {
  const found = [];
  for (let power = Math.round(Math.log10(low)); power <= Math.round(Math.log10(high)); power += 1) found.push(10 ** power);
  return found;
}

/** Lines over all lanes for the moments that matter. */
function markers(state, moment) {
  const { timeline } = state;
  state.marks = [
    [0, 'start', 'agent starts'],
    timeline.declared !== null && [timeline.declared, 'declared', 'declared'],
    timeline.agent_ended !== null && timeline.declared === null && [timeline.agent_ended, 'ended', 'agent ends'],
    moment !== null && [moment, 'decided', 'decided'],
  ].filter(Boolean).map(([at, look, text]) => ({ at, element: h('div', { class: `marker ${look}` }, h('span', {}, text)) }));
  state.line = h('div', { class: 'cursor', hidden: true });
  append(state.rail, [state.marks.map((one) => one.element), state.line]);
}

function placeMarkers(state) {
  const width = state.rail.clientWidth;
  let taken = -Infinity;
  for (const one of state.marks.toSorted((first, other) => first.at - other.at)) {
    const part = state.scale.at(one.at);
    one.element.hidden = part < 0 || part > 1;
    one.element.style.left = `${100 * part}%`;
    one.element.classList.toggle('leftward', part > 0.85);
    one.element.classList.toggle('low', part * width - taken < 76);
    taken = part * width;
  }
  if (state.cursor !== null) state.line.style.left = `${100 * state.scale.at(state.cursor)}%`;
}

/** Move the cursor to a moment, or take it away (null). */
function showCursor(state, time, speak = false) {
  state.cursor = time;
  state.line.hidden = time === null;
  state.lanes.forEach((one) => one.set(time));
  if (time === null) {
    state.readout.textContent = matchMedia('(pointer: coarse)').matches
      ? 'Touch the timeline to read a moment.'
      : 'Point at the timeline, or focus it and use the arrow keys, to read a moment. Drag to zoom.';
    return;
  }
  placeMarkers(state);
  const near = state.events.filter((event) => Math.abs(event.at - time) <= Math.max(state.timeline.step / 2, 1));
  const text = `${clock(time)} \u00b7 ${utcTime(state.timeline.origin + time)}`;
  state.readout.replaceChildren(h('b', {}, text), ...near.slice(0, 3).map((event) => h('span', { class: 'near' }, event.kind, ' ', event.what)));
  if (speak) say([text, ...near.slice(0, 3).map((event) => `${event.kind} ${event.what}`)].join(', '));
}

/** Pointer: hovering reads, dragging zooms, a double click shows all. */
function pointer(state) {
  const { group, rail, scale } = state;
  let from = null;
  const box = h('div', { class: 'drag', hidden: true });
  rail.append(box);
  const part = (event) => {
    const bounds = rail.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - bounds.left) / bounds.width));
  };
  group.addEventListener('pointermove', (event) => {
    showCursor(state, scale.time(part(event)));
    if (from === null) return;
    const [left, right] = [Math.min(from, part(event)), Math.max(from, part(event))];
    box.hidden = right - left < 0.01;
    Object.assign(box.style, { left: `${100 * left}%`, width: `${100 * (right - left)}%` });
  });
  group.addEventListener('pointerdown', (event) => {
    if (event.pointerType === 'mouse' && event.button === 0) from = part(event);
    showCursor(state, scale.time(part(event)));
  });
  const drop = (event) => {
    if (from !== null && !box.hidden) scale.zoom(...[scale.time(from), scale.time(part(event))].toSorted((a, b) => a - b));
    from = null;
    box.hidden = true;
  };
  group.addEventListener('pointerup', drop);
  group.addEventListener('pointerleave', (event) => {
    if (from !== null) drop(event);
    if (event.pointerType === 'mouse') showCursor(state, null);
  });
  group.addEventListener('dblclick', () => scale.reset());
}

function timelineKey(state, event) {
  const { scale, timeline } = state;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const at = state.cursor ?? Math.max(scale.from, 0);
  const step = timeline.step * (event.shiftKey ? 10 : 1);
  const next = (sign) => state.events.filter((one) => sign * (one.at - at) > 0.05).toSorted((a, b) => sign * (a.at - b.at))[0]?.at ?? at;
  const moves = { ArrowLeft: () => at - step, ArrowRight: () => at + step, Home: () => timeline.start, End: () => timeline.end,
    ']': () => next(1), '[': () => next(-1) };
  const zooms = { '+': 0.5, '=': 0.5, '-': 2 };
  if (moves[event.key]) showCursor(state, Math.max(timeline.start, Math.min(timeline.end, moves[event.key]())), true);
  else if (zooms[event.key]) scale.zoomAround(at, zooms[event.key]);
  else if (event.key === '0') scale.reset();
  else if (event.key === 'Escape') showCursor(state, null);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Everything that happened at a moment, in order. */
function eventsOf(timeline, moment) {
  const events = [{ at: 0, kind: 'agent', what: 'starts', detail: '' }];
  for (const stage of timeline.stages) {
    const [name, ...detail] = stage.text.split('\n');
    events.push({ at: stage.start, kind: stage.state === 'ok' ? 'stage' : 'stage failed', what: name, detail: detail.join('\n'), for: stage.end - stage.start });
  }
  for (const lane_ of timeline.observers) {
    lane_.spans.forEach((span, number) => {
      if (number === 0 || lane_.spans[number - 1].state !== span.state) events.push({ at: span.start, kind: 'fault', what: `${lane_.name} ${span.state}`, detail: span.text });
    });
  }
  for (const lane_ of timeline.health) {
    for (const span of lane_.spans) if (span.state !== 'alive') events.push({ at: span.start, kind: 'harness', what: `${lane_.name} ${span.state}`, detail: span.text });
  }
  for (const act of timeline.acts) {
    const kind = act.forbidden ? 'forbidden' : act.kind;
    events.push({ at: act.at, kind: act.ok ? kind : `${kind}, refused`, what: `${act.source}: ${act.what}`, detail: act.detail, actor: act.actor });
  }
  if (moment !== null) events.push({ at: moment, kind: 'decided', what: 'the deciding check', detail: '' });
  return events.toSorted((one, other) => one.at - other.at);
}

function eventTable(state) {
  const columns = [
    { name: 'Time', kind: 'time', value: (event) => event.at, draw: (event) => h('button', { type: 'button', class: 'jump',
      title: utcTime(state.timeline.origin + event.at), onclick: () => { showCursor(state, event.at); state.group.focus(); } }, clock(event.at)) },
    { name: 'Kind', kind: 'text', value: (event) => event.kind, draw: (event) => h('span', { class: `event ${event.kind.split(/[ ,]/)[0]}` }, event.kind) },
    { name: 'What', kind: 'text', value: (event) => event.what, draw: (event) => [event.what, event.for > 0 && h('span', { class: 'faint' }, ` ${duration(event.for)}`)] },
    { name: 'Detail', kind: 'text', value: (event) => event.detail, draw: (event) => h('code', { class: 'wrap' }, event.detail) },
  ];
  const left = state.timeline.acts_left_out;
  return lazily(`All ${count(state.events.length, 'event')} as a table`, () => [
    left > 0 && h('p', { class: 'caption' }, `${count(left, 'further read')} left out.`),
    sortable({ label: 'Events', columns, rows: state.events, sort: null, step: 200 }).element,
  ], { class: 'events' });
}

function legend() {
  const entry = (look, text) => h('span', {}, h('i', { class: `swatch ${look}`, 'aria-hidden': 'true' }), text);
  return h('p', { class: 'legend' }, entry('good', 'operations succeed'), entry('bad', 'depth of the notch: share that fails'),
    entry('planted', 'fault in effect'), entry('clear', 'fault clear'), entry('changes', 'change'), entry('reads', 'read'), entry('forbidden', 'forbidden act'));
}
