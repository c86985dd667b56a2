// Lanes: rows of the timeline. Their drawings use seconds as units, so that a zoom is a change of the view box.

const LANE_HEIGHT = 20;
const HUES = 6;

/** An SVG that spans the time axis; `draw(scale)` gives its content in seconds × LANE_HEIGHT. */
function strip(scale, content, height = LANE_HEIGHT) {
  const svg = s(
    'svg',
    { class: 'strip', preserveAspectRatio: 'none', 'aria-hidden': 'true', style: { height: `${height}px` } },
    content,
  );
  const view = () => svg.setAttribute('viewBox', `${scale.from} 0 ${scale.to - scale.from} ${LANE_HEIGHT}`);
  scale.onchange(view);
  view();
  return svg;
}

/** One row: label, plot, and a figure for the moment under the cursor. */
function lane(label, plot, { figureAt, summary = '', hue = null, look = '', help = null }) {
  const value = h('div', { class: 'lane-value' }, summary);
  const element = h(
    'div',
    { class: `lane ${look}` },
    h(
      'div',
      { class: 'lane-label', title: help ?? label },
      hue !== null && h('i', { class: `dot hue-${hue}`, 'aria-hidden': 'true' }),
      label,
    ),
    h('div', { class: 'lane-plot' }, plot),
    value,
  );
  return {
    element,
    set: (time) => value.replaceChildren(...shown(time === null || !figureAt ? summary : figureAt(time))),
  };
}

function binOf(timeline, time) {
  return Math.floor((time - timeline.start) / timeline.step + 1e-9);
}

/** Success of one kind: full and calm while all succeed, a dark notch from above as deep as the share that fails. */
function successLane(timeline, kind, scale, hue) {
  const rects = [];
  let total = 0;
  let good = 0;
  for (const run of runs(kind)) {
    const x = timeline.start + run.from * timeline.step;
    const width = (run.to - run.from) * timeline.step;
    if (run.fail === null) continue;
    rects.push(s('rect', { x, y: 0, width, height: LANE_HEIGHT, class: 'good' }));
    if (run.fail > 0) {
      const deep = LANE_HEIGHT * Math.max(0.15, run.fail);
      rects.push(s('rect', { x, y: 0, width, height: deep, class: run.fail > 0.5 ? 'bad' : 'partly' }));
    }
  }
  kind.n.forEach((due, bin) => {
    total += due;
    good += kind.ok[bin];
  });
  return lane(kind.name, strip(scale, rects), {
    hue,
    look: kind.judged ? 'success' : 'success minor',
    help: `${kind.name}: ${kind.judged ? 'judged' : 'not judged'}`,
    summary: total ? share(good / total) : '',
    figureAt: (time) => {
      const bin = binOf(timeline, time);
      if (!kind.n[bin]) return NONE;
      const slow = kind.p95[bin];
      return `${kind.ok[bin]}/${kind.n[bin]}${slow === null ? '' : ` \u00b7 ${latency(slow / 1000)}`}`;
    },
  });
}

/** Neighbouring bins with the same share of failures as one run; `fail` null: nothing was due. */
function runs(kind) {
  const found = [];
  kind.n.forEach((due, bin) => {
    const fail = due ? 1 - kind.ok[bin] / due : null;
    const last = found.at(-1);
    if (last && last.fail === fail) last.to = bin + 1;
    else found.push({ from: bin, to: bin + 1, fail });
  });
  return found;
}

/** States over time, one look for each state. */
function stateLane(label, spans, scale, { summary = '', help = null } = {}) {
  const rects = spans.map((span) =>
    s('rect', {
      x: span.start,
      y: 3,
      width: Math.max(span.end - span.start, 0.5),
      height: LANE_HEIGHT - 6,
      class: `state-${span.state}`,
    }),
  );
  return lane(label, strip(scale, rects), {
    summary,
    help,
    look: 'states',
    figureAt: (time) => spans.findLast((span) => span.start <= time && time <= span.end)?.state ?? NONE,
  });
}

/** Stages as boxes with their names, where there is room. */
function stageLane(stages, scale) {
  const boxes = stages.map((stage, number) => {
    const [name, ...detail] = stage.text.split('\n');
    const look = `stage ${stage.state === 'ok' ? '' : 'failed'} ${name === 'agent' ? 'agent' : ''} ${number % 2 ? 'odd' : ''}`;
    const tip = `${name}, ${duration(stage.end - stage.start)}${detail.join(' ') ? `: ${detail.join(' ')}` : ''}`;
    return { stage, name, element: h('div', { class: look, title: tip }, h('span', {}, name)) };
  });
  const plot = h(
    'div',
    { class: 'stages' },
    boxes.map((box) => box.element),
  );
  const place = () => {
    for (const { stage, element } of boxes) {
      const from = Math.max(0, scale.at(stage.start));
      const to = Math.min(1, scale.at(stage.end));
      element.hidden = to <= 0 || from >= 1;
      element.style.left = `${100 * from}%`;
      element.style.width = `${100 * Math.max(0, to - from)}%`;
      element.classList.toggle('narrow', plot.clientWidth * (to - from) < 12 + 6.4 * element.textContent.length);
    }
  };
  scale.onchange(place);
  const made = lane('Stages', plot, {
    look: 'stage-lane',
    figureAt: (time) => boxes.findLast(({ stage }) => stage.start <= time && time <= stage.end)?.name ?? NONE,
  });
  return { ...made, place };
}

/** Acts as ticks. */
function actLane(label, acts, scale, { look, summary }) {
  const lines = acts.map((act) =>
    s('line', {
      x1: act.at,
      x2: act.at,
      y1: look === 'reads' ? 6 : 1,
      y2: LANE_HEIGHT - (look === 'reads' ? 6 : 1),
      class: act.forbidden ? 'act forbidden' : `act ${look}${act.ok ? '' : ' refused'}`,
    }),
  );
  const near = (time) => acts.filter((act) => Math.abs(act.at - time) <= (scale.to - scale.from) / 160);
  return lane(label, strip(scale, lines), {
    summary,
    look: 'acts',
    figureAt: (time) =>
      near(time)
        .map((act) => act.what)
        .join(', ') || NONE,
  });
}
