// A list of trials: what became of each, what narrows the list, and how that stands in the address.

const LONG_REASON = 120;
/** Behind a cost that is the agent's own word. */
const REPORTED = '\u2020';

function reported(trial) {
  return trial.cost_source === 'agent';
}

/** What became of a trial, in a word and a class for its look. */
function result(trial) {
  if (trial.status !== 'judged') return { word: trial.status, look: 'none', detail: brief(trial.reason) };
  const mark = trial.refused ? 'refused' : '';
  if (trial.reward === 1) return { word: 'passed', look: 'pass', detail: mark };
  return { word: 'failed', look: 'fail', detail: [trial.failure_class, mark].filter(Boolean).join(', ') };
}

/** The beginning of a long reason; all of it is on the trial's own page. */
function brief(text) {
  return text.length > LONG_REASON ? `${text.slice(0, LONG_REASON - 1).trimEnd()}\u2026` : text;
}

/** A verdict as a word with a sign, so that it does not depend on colour. */
function badge(look, word) {
  const sign = { pass: '\u2713', fail: '\u2717', unknown: '?', none: '\u25cb' }[look] ?? '';
  return h('span', { class: `badge ${look}` }, h('span', { 'aria-hidden': 'true' }, sign), ` ${word}`);
}

function shortTask(name) {
  return name.slice(name.indexOf('/') + 1);
}

function trialColumns(withTask) {
  const columns = [
    {
      name: 'Trial',
      kind: 'text',
      value: (trial) => (withTask ? trial.task : trial.name),
      draw: (trial) =>
        link(trialHref(trial), { class: 'row-link' }, withTask ? shortTask(trial.task) || trial.name : trial.name),
    },
    {
      name: 'Result',
      kind: 'result',
      value: (trial) => `${result(trial).word} ${trial.failure_class}`,
      draw: outcomeCell,
    },
    { name: 'Model or agent', kind: 'text', value: (trial) => trial.who },
    { name: 'Effort', kind: 'text', value: (trial) => trial.effort, draw: (trial) => trial.effort || NONE },
    {
      name: 'Repaired',
      kind: 'count',
      help: 'Planted faults that the tracker saw repaired before the agent ended',
      value: (trial) => (trial.faults ? trial.repaired / trial.faults : null),
      draw: (trial) =>
        trial.faults === null || trial.repaired === null ? NONE : `${trial.repaired} of ${trial.faults}`,
    },
    { name: 'Agent time', kind: 'duration', value: (trial) => trial.agent_seconds },
    { name: 'Turns', kind: 'count', value: (trial) => trial.turns },
    { name: 'Tokens', kind: 'tokens', value: (trial) => trial.tokens },
    {
      name: 'Cost',
      kind: 'money',
      help: `${REPORTED} as the agent itself reported: the price list has no price of its model`,
      value: (trial) => trial.cost,
      draw: (trial) => `${money(trial.cost)}${reported(trial) ? `\u202f${REPORTED}` : ''}`,
    },
    {
      name: 'Started (UTC)',
      kind: 'text',
      value: (trial) => trial.started,
      draw: (trial) => h('span', { class: 'when faint' }, utcMinute(trial.started).replace(' UTC', '')),
    },
  ];
  const known = (column) => column.kind === 'result' || column.name === 'Trial';
  return (trials) =>
    columns.filter((column) => known(column) || trials.some((trial) => ![null, ''].includes(column.value(trial))));
}

function outcomeCell(trial) {
  const { word, look, detail } = result(trial);
  return h('span', { class: 'outcome' }, badge(look, word), detail && h('span', { class: 'why' }, ` ${detail}`));
}

/** What a search looks into, made once for a trial. */
const haystacks = new WeakMap();

function haystack(index, trial) {
  if (!haystacks.has(trial)) {
    const words = [trial.name, trial.job, trial.task, index.taskByName.get(trial.task)?.title, trial.who, trial.agent];
    words.push(trial.effort, trial.failure_class, result(trial).word, trial.refused && 'refused');
    haystacks.set(trial, words.filter(Boolean).join('\n').toLowerCase());
  }
  return haystacks.get(trial);
}

/** What narrows a list besides the search, each by a value of the trial. */
const CHOICES = [
  ['Result', 'result', (trial) => result(trial).word],
  ['Failure class', 'class', (trial) => trial.failure_class],
  ['Task', 'task', (trial) => trial.task],
  ['Model or agent', 'who', (trial) => trial.who],
  ['Effort', 'effort', (trial) => trial.effort],
];

/** The trials that all choices let through; of a search every word must be found. */
function narrowed(index, trials, asked) {
  const words = (asked.text ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const set = CHOICES.filter(([, name]) => asked[name]);
  return trials.filter(
    (trial) =>
      set.every(([, name, value]) => value(trial) === asked[name]) &&
      words.every((word) => haystack(index, trial).includes(word)),
  );
}

/** `Agent time` or `-Agent time` to [column number, direction]; null for what is no column. */
function askedOrder(columns, sort) {
  const down = sort?.startsWith('-') ?? false;
  const number = columns.findIndex((column) => column.name === (down ? sort.slice(1) : sort));
  return number < 0 ? null : [number, down ? -1 : 1];
}

/**
 * A list of trials with filters above it: {element, update}. The address says what is chosen, so that a link shows the
 * same and Back undoes a choice; `update` takes what an address asks for.
 */
function trialList(index, trials, { withTask, asked = {}, id = 'trials' }) {
  const columns = trialColumns(withTask)(trials);
  const counted = h('span', { role: 'status' });
  const box = h('div', { class: 'filters' });
  let chosen = {};
  const table = sortable({
    label: 'Trials',
    columns,
    rows: [],
    sort: null,
    onsort: ([number, direction]) => {
      chosen.sort = `${direction < 0 ? '-' : ''}${columns[number].name}`;
      noteAddress(chosen, true);
    },
  });
  const fill = () => {
    const kept = narrowed(index, trials, chosen);
    table.replace(kept, askedOrder(columns, chosen.sort));
    counted.textContent = `${kept.length.toLocaleString('en')} of ${count(trials.length, 'trial')}`;
  };
  const change = (name, settled) => (event) => {
    chosen[name] = event.target.value;
    noteAddress(chosen, settled);
    fill();
  };
  const update = (next) => {
    chosen = { ...next };
    box.replaceChildren(...filters(trials, chosen, change));
    fill();
  };
  update(asked);
  const element = h(
    'section',
    { class: 'block', id, 'aria-labelledby': `${id}-title` },
    h('h2', { id: `${id}-title`, tabindex: '-1' }, 'Trials'),
    box,
    h('p', { class: 'caption kept' }, counted, exportButtons(index, () => table.rows(), () => chosen)),
    table.element,
  );
  return { element, update };
}

/** The search and the choices. A value that the address asks for and no trial has stays to be seen, and undone. */
function filters(trials, chosen, change) {
  const find = h('input', {
    type: 'search',
    id: 'find',
    value: chosen.text ?? '',
    oninput: change('text', false),
    autocomplete: 'off',
    title: 'All words must be found, in model, agent, task, class, effort or name',
  });
  return [
    h('label', {}, 'Find ', find),
    ...CHOICES.map(([label, name, value]) => {
      const values = [...new Set([...trials.map(value), chosen[name]].filter(Boolean))].toSorted();
      return choice(label, `by-${name}`, values, chosen[name], change(name, true));
    }).filter(Boolean),
  ];
}

function choice(label, id, values, current, onchange) {
  if (values.length < 2 && !current) return null;
  return h(
    'label',
    {},
    `${label} `,
    h(
      'select',
      { id, onchange },
      h('option', { value: '' }, 'all'),
      values.map((value) => h('option', { value, selected: value === current }, value)),
    ),
  );
}
