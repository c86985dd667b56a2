// A trial's timeline: lanes, the latency chart, one cursor over all of them, and the same events as a table.

/** The timeline as a section; `moment` is when the deciding check was decided, in seconds since the agent's start, or null. */
function timelineSection(timeline, verdict, moment) {
  const scale = makeScale(timeline.start, timeline.end);
  const lanes = allLanes(timeline, verdict, scale);
  const rail = h('div', { class: 'rail' });
  const body = h(
    'div',
    { class: 'lanes' },
    axisLane(scale),
    lanes.map((one) => one.element),
    chartSlot(timeline),
    rail,
  );
  const readout = h('p', { class: 'readout' });
  const group = h(
    'div',
    {
      class: 'timeline',
      role: 'application',
      tabindex: '0',
      'aria-roledescription': 'timeline',
      'aria-label':
        'Timeline. Arrow keys move the cursor, plus and minus zoom, 0 shows all, brackets jump between events.',
    },
    body,
  );
  const state = {
    timeline,
    scale,
    lanes,
    rail,
    body,
    readout,
    group,
    cursor: null,
    chart: null,
    events: eventsOf(timeline, moment),
  };
  markers(state, moment);
  pointer(state);
  group.addEventListener('keydown', (event) => timelineKey(state, event));
  const section = h(
    'section',
    { class: 'block', id: 'timeline', 'aria-labelledby': 'timeline-title' },
    h('h2', { id: 'timeline-title', tabindex: '-1' }, 'Timeline'),
    h('div', { class: 'timeline-head' }, readout, phases(state)),
    group,
    legend(),
    eventTable(state),
  );
  showCursor(state, null);
  whenLaidOut(section, body, () => draw(state));
  return section;
}

/** Buttons that show one phase of the episode: before the agent, the agent, what came after. */
function phases({ timeline, scale }) {
  const until = timeline.agent_ended ?? timeline.declared ?? timeline.end;
  const spans = [
    ['All', timeline.start, timeline.end],
    ['Before', timeline.start, 0],
    ['Agent', 0, until],
    ['Challenges', until, timeline.end],
  ];
  const buttons = spans
    .filter(([, from, to]) => to - from > 10)
    .map(([name, from, to]) => {
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
      requestAnimationFrame(redraw); // not in here: drawing changes the height that is being observed
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
    start: window.start - timeline.origin,
    end: window.end - timeline.origin,
    state: 'window',
    text: window.name,
  }));
  return [
    stageLane(timeline.stages, scale),
    windows.length > 0 && windowLane(windows, scale),
    ...timeline.kinds.map((kind, number) =>
      successLane(timeline, kind, scale, kind.judged && number < HUES ? number : null),
    ),
    ...timeline.observers.map((one) =>
      stateLane(one.name, one.spans, scale, { summary: repairedText(one.name), help: `Observer of ${one.name}` }),
    ),
    actLane('Changes', changes, scale, { look: 'changes', summary: String(verdict?.changes ?? changes.length) }),
    actLane('Reads', reads, scale, { look: 'reads', summary: String(verdict?.reads ?? reads.length) }),
    ...timeline.health.map((one) =>
      stateLane(one.name, one.spans, scale, { help: `Harness: ${one.name}`, summary: 'not as set' }),
    ),
  ].filter(Boolean);
}

function windowLane(windows, scale) {
  const named = windows.map((window) => ({ ...window, state: 'ok', text: window.text }));
  const made = stageLane(named, scale);
  made.element.classList.add('window-lane');
  made.element.querySelector('.lane-label').textContent = 'Judged windows';
  return made;
}

function axisLane(scale) {
  const plot = h('div', { class: 'lane-plot axis' });
  const place = () => {
    const found = ticks(scale, plot.clientWidth || 600);
    plot.replaceChildren(
      ...found.map((tick) => h('span', { class: 'tick', style: { left: `${100 * scale.at(tick)}%` } }, clock(tick))),
    );
  };
  scale.onchange(place);
  const element = h(
    'div',
    { class: 'lane axis-lane', 'aria-hidden': 'true' },
    h('div', { class: 'lane-label' }, 'since agent start'),
    plot,
    h('div', { class: 'lane-value' }),
  );
  element.place = place;
  return element;
}

/** Put everything in its place: boxes, ticks, markers, and the chart anew. */
function draw(state) {
  state.body.querySelector('.axis-lane').place();
  state.lanes.forEach((one) => one.place?.());
  placeMarkers(state);
  const slot = state.body.querySelector('.chart');
  if (slot) drawChart(state, slot);
}

/** Lines over all lanes for the moments that matter. */
function markers(state, moment) {
  const { timeline } = state;
  state.marks = [
    [0, 'start', 'agent starts'],
    timeline.declared !== null && [timeline.declared, 'declared', 'declared'],
    timeline.agent_ended !== null && timeline.declared === null && [timeline.agent_ended, 'ended', 'agent ends'],
    moment !== null && [moment, 'decided', 'decided'],
  ]
    .filter(Boolean)
    .map(([at, look, text]) => ({ at, element: h('div', { class: `marker ${look}` }, h('span', {}, text)) }));
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
  state.readout.replaceChildren(
    h('b', {}, text),
    ...near.slice(0, 3).map((event) => h('span', { class: 'near' }, event.kind, ' ', event.what)),
  );
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
    if (from !== null && !box.hidden)
      scale.zoom(...[scale.time(from), scale.time(part(event))].toSorted((a, b) => a - b));
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
  const next = (sign) =>
    state.events.filter((one) => sign * (one.at - at) > 0.05).toSorted((a, b) => sign * (a.at - b.at))[0]?.at ?? at;
  const moves = {
    ArrowLeft: () => at - step,
    ArrowRight: () => at + step,
    Home: () => timeline.start,
    End: () => timeline.end,
    ']': () => next(1),
    '[': () => next(-1),
  };
  const zooms = { '+': 0.5, '=': 0.5, '-': 2 };
  if (moves[event.key]) showCursor(state, Math.max(timeline.start, Math.min(timeline.end, moves[event.key]())), true);
  else if (zooms[event.key]) scale.zoomAround(at, zooms[event.key]);
  else if (event.key === '0') scale.reset();
  else if (event.key === 'Escape') showCursor(state, null);
  else return;
  event.preventDefault();
  event.stopPropagation();
}
