// What happened in a trial, in order: for the timeline's cursor, its keys, and the table below it.

/** Everything that happened at a moment, in order. */
function eventsOf(timeline, moment) {
  const events = [{ at: 0, kind: 'agent', what: 'starts', detail: '' }];
  for (const stage of timeline.stages) {
    const [name, ...detail] = stage.text.split('\n');
    events.push({
      at: stage.start,
      kind: stage.state === 'ok' ? 'stage' : 'stage failed',
      what: name,
      detail: detail.join('\n'),
      for: stage.end - stage.start,
    });
  }
  for (const lane_ of timeline.observers) {
    lane_.spans.forEach((span, number) => {
      if (number === 0 || lane_.spans[number - 1].state !== span.state)
        events.push({ at: span.start, kind: 'fault', what: `${lane_.name} ${span.state}`, detail: span.text });
    });
  }
  for (const lane_ of timeline.health) {
    for (const span of lane_.spans)
      if (span.state !== 'alive')
        events.push({ at: span.start, kind: 'harness', what: `${lane_.name} ${span.state}`, detail: span.text });
  }
  for (const act of timeline.acts) {
    const kind = act.forbidden ? 'forbidden' : act.kind;
    events.push({
      at: act.at,
      kind: act.ok ? kind : `${kind}, refused`,
      what: `${act.source}: ${act.what}`,
      detail: act.detail,
      actor: act.actor,
    });
  }
  if (moment !== null) events.push({ at: moment, kind: 'decided', what: 'the deciding check', detail: '' });
  return events.toSorted((one, other) => one.at - other.at);
}

function eventTable(state) {
  const columns = [
    {
      name: 'Time',
      kind: 'time',
      value: (event) => event.at,
      draw: (event) =>
        h(
          'button',
          {
            type: 'button',
            class: 'jump',
            title: utcTime(state.timeline.origin + event.at),
            onclick: () => {
              showCursor(state, event.at);
              state.group.focus();
            },
          },
          clock(event.at),
        ),
    },
    {
      name: 'Kind',
      kind: 'text',
      value: (event) => event.kind,
      draw: (event) => h('span', { class: `event-kind is-${event.kind.split(/[ ,]/)[0]}` }, event.kind),
    },
    {
      name: 'What',
      kind: 'text',
      value: (event) => event.what,
      draw: (event) => [event.what, event.for > 0 && h('span', { class: 'faint' }, ` ${duration(event.for)}`)],
    },
    {
      name: 'Detail',
      kind: 'text',
      value: (event) => event.detail,
      draw: (event) => h('code', { class: 'wrap' }, event.detail),
    },
  ];
  const left = state.timeline.acts_left_out;
  return lazily(
    `All ${count(state.events.length, 'event')} as a table`,
    () => [
      left > 0 && h('p', { class: 'caption' }, `${count(left, 'further read')} left out.`),
      sortable({ label: 'Events', columns, rows: state.events, sort: null, step: 200 }).element,
    ],
    { class: 'events' },
  );
}

function legend() {
  const entry = (look, text) => h('span', {}, h('i', { class: `swatch ${look}`, 'aria-hidden': 'true' }), text);
  return h(
    'p',
    { class: 'legend' },
    entry('good', 'operations succeed'),
    entry('bad', 'depth of the notch: share that fails'),
    entry('planted', 'fault in effect'),
    entry('clear', 'fault clear'),
    entry('changes', 'change'),
    entry('reads', 'read'),
    entry('forbidden', 'forbidden act'),
  );
}
