// The leaderboard, a task, and the lists of trials.

const FEW_TRIALS = 30;
const FEW_NOTES = 3;
const LONG_REASON = 120;

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
    { name: 'Cost', kind: 'money', value: (trial) => trial.cost },
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

/** A list of trials with filters above it. `query` presets them: {who, task, result, class, text}. */
function trialList(index, trials, { withTask, query = {}, id = 'trials' }) {
  const chosen = { text: '', result: '', class: '', who: '', ...query };
  const counted = h('p', { class: 'caption', role: 'status' });
  const passes = (trial) =>
    (!chosen.result || result(trial).word === chosen.result) &&
    (!chosen.class || trial.failure_class === chosen.class) &&
    (!chosen.who || trial.who === chosen.who) &&
    (!chosen.text ||
      `${trial.task} ${trial.who} ${trial.name} ${trial.job} ${trial.agent}`
        .toLowerCase()
        .includes(chosen.text.toLowerCase()));
  const table = sortable({
    label: 'Trials',
    columns: trialColumns(withTask)(trials),
    rows: trials.filter(passes),
    sort: null,
  });
  const apply = () => {
    const kept = trials.filter(passes);
    table.replace(kept);
    counted.textContent = `${kept.length.toLocaleString('en')} of ${count(trials.length, 'trial')}`;
  };
  apply();
  return h(
    'section',
    { class: 'block', id, 'aria-labelledby': `${id}-title` },
    h('h2', { id: `${id}-title`, tabindex: '-1' }, 'Trials'),
    filters(trials, chosen, apply),
    counted,
    table.element,
  );
}

/** What narrows a list of trials; `chosen` is changed and `apply` called. */
function filters(trials, chosen, apply) {
  const change = (name) => (event) => {
    chosen[name] = event.target.value;
    apply();
  };
  const by = (label, name, value) => {
    const values = [...new Set(trials.map(value).filter(Boolean))].toSorted();
    return choice(label, values, chosen[name], change(name));
  };
  const find = { type: 'search', id: 'find', value: chosen.text, oninput: change('text'), autocomplete: 'off' };
  return h(
    'div',
    { class: 'filters' },
    h('label', {}, 'Find ', h('input', find)),
    by('Result', 'result', (trial) => result(trial).word),
    by('Failure class', 'class', (trial) => trial.failure_class),
    by('Model or agent', 'who', (trial) => trial.who),
  );
}

function choice(label, values, current, onchange) {
  if (values.length < 2) return null;
  return h(
    'label',
    {},
    `${label} `,
    h(
      'select',
      { onchange },
      h('option', { value: '' }, 'all'),
      values.map((value) => h('option', { value, selected: value === current }, value)),
    ),
  );
}

/** The first page: figures from `analysis`, then every trial. */
function leaderboard(index, query) {
  const judged = index.trials.filter((trial) => trial.status === 'judged');
  const passed = judged.filter((trial) => trial.reward === 1).length;
  const tasks = new Set(judged.map((trial) => trial.task)).size;
  const facts = [
    [judged.length.toLocaleString('en'), judged.length === 1 ? 'judged trial' : 'judged trials'],
    [passed.toLocaleString('en'), 'passed'],
    [(index.trials.length - judged.length).toLocaleString('en'), 'not judged'],
    [tasks.toLocaleString('en'), tasks === 1 ? 'task' : 'tasks'],
    [index.jobs.length.toLocaleString('en'), index.jobs.length === 1 ? 'job' : 'jobs'],
  ];
  return {
    title: 'Results',
    crumbs: [],
    view: [
      h('h1', { tabindex: '-1' }, 'Results'),
      h(
        'p',
        { class: 'lead' },
        facts.map(([figureText, words]) => h('span', { class: 'fact' }, h('b', {}, figureText), ` ${words}`)),
      ),
      index.notes.length > 0 &&
        h(
          'details',
          { class: 'notes', open: index.notes.length <= FEW_NOTES },
          h('summary', {}, count(index.notes.length, 'note'), ' on what was read'),
          h(
            'ul',
            {},
            index.notes.map((note) => h('li', {}, note)),
          ),
        ),
      ordered(index, trialList(index, index.trials, { withTask: true, query })),
      pictureSection(index),
      moreTables(index),
      h('p', { class: 'made' }, `Made ${utcMinute(index.made)} by incident-arena ${index.product}.`),
    ],
    focus: Object.keys(query).length ? 'trials-title' : null,
  };
}

/** The first tables and the trials; among a few trials one looks for a trial, so they come right after the leaderboard. */
function ordered(index, trials) {
  const [board, ...others] = index.tables.filter((table) => table.first).map((table) => computed(index, table));
  return index.trials.length <= FEW_TRIALS ? [board, trials, others] : [board, others, trials];
}

/** The other tables, each made when it is opened. */
function moreTables(index) {
  const others = index.tables.filter((table) => !table.first);
  return (
    others.length > 0 &&
    h(
      'section',
      { class: 'block', 'aria-labelledby': 'more-title' },
      h('h2', { id: 'more-title' }, 'More tables'),
      h(
        'div',
        { class: 'more-tables' },
        others.map((table) =>
          lazily([table.title, h('span', { class: 'faint' }, ` ${count(table.rows.length, 'row')}`)], () =>
            computed(index, table, false),
          ),
        ),
      ),
    )
  );
}

/** One task: what it is, and its trials. */
function taskPage(index, name) {
  const task = index.taskByName.get(name);
  if (!task) return notFound(`There is no task ${name} among these results.`);
  const facts = [
    ['Substrate', task.substrate],
    ['Surface', task.surface],
    ['Layer', task.layer],
    ['Onset', task.onset],
    ['Planted', task.faults.join(', ')],
    [
      'Windows',
      Object.entries(task.windows)
        .map(([window, seconds]) => `${window}\u00a0${seconds}\u00a0s`)
        .join(', '),
    ],
  ].filter(([, value]) => value);
  return {
    title: task.title || task.name,
    crumbs: [['#/', 'Results']],
    view: [
      h('p', { class: 'kicker' }, 'Task ', h('code', {}, task.name)),
      h('h1', { tabindex: '-1' }, task.title || shortTask(task.name)),
      taskRates(index, name),
      definitions(facts),
      h('div', { class: 'columns' }, h('div', {}, taskModels(index, name)), h('div', {}, taskGates(index, name))),
      task.bounds.length > 0 && boundsTable(task),
      task.permitted.length > 0 &&
        h(
          'section',
          { class: 'block' },
          h('h2', {}, 'Permitted changes'),
          h(
            'ul',
            { class: 'plain' },
            task.permitted.map((permit) => h('li', {}, h('code', {}, permit))),
          ),
        ),
      trialList(
        index,
        index.trials.filter((trial) => trial.task === name),
        { withTask: false },
      ),
    ],
  };
}

/** A task's own row of a table of the report, by column; null when the table has none. */
function ownRow(index, key, name) {
  const table = index.tables.find((one) => one.key === key);
  const row = table?.rows.find((one) => one[0].value === name);
  return row ? table.columns.map((column, number) => ({ column, cell: row[number] })).slice(1) : null;
}

/** Overall rates of a task as facts. */
function taskRates(index, name) {
  const row = ownRow(index, 'tasks', name);
  const kept = (row ?? []).filter(({ column }) => ['Trials', 'Pass@1', 'Completion'].includes(column.name));
  return (
    kept.length > 0 &&
    h(
      'p',
      { class: 'lead' },
      kept.map(({ column, cell }) =>
        h(
          'span',
          { class: 'fact' },
          h('b', {}, FORMATS[column.kind](cell.value)),
          ` ${column.name === 'Pass@1' ? column.name : column.name.toLowerCase()}`,
        ),
      ),
    )
  );
}

/** Pass rates by model: the task's row of the report's matrix, turned. */
function taskModels(index, name) {
  const row = ownRow(index, 'task_models', name)?.filter(({ cell }) => cell.value !== null);
  if (!row?.length) return null;
  const columns = [
    { name: 'Model or agent', kind: 'text', value: ({ column }) => column.name },
    {
      name: 'Pass rate',
      kind: 'heat',
      value: ({ cell }) => cell.value,
      draw: ({ cell }) => heat(cell.value, share(cell.value), h('span', { class: 'faint' }, ` ${cell.note}`)),
    },
  ];
  return h(
    'section',
    { class: 'block' },
    h('h2', {}, 'Pass rate'),
    sortable({ label: 'Pass rate', columns, rows: row, sort: null }).element,
  );
}

/** The two gates as a square of counts. */
function taskGates(index, name) {
  const row = ownRow(index, 'gates', name);
  if (!row) return null;
  const counts = Object.fromEntries(row.map(({ column, cell }) => [column.name, cell.value]));
  const line = (outcome) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row', class: 'left' }, `outcome ${outcome.toLowerCase()}`),
      ['Pass', 'Fail'].map((safety) => h('td', { class: 'right' }, String(counts[`${outcome}/${safety}`]))),
    );
  return h(
    'section',
    { class: 'block' },
    h('h2', {}, 'Gates'),
    scroller(
      'Gates',
      h(
        'table',
        { class: 'data' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('td', {}),
            h('th', { scope: 'col', class: 'right' }, 'safety pass'),
            h('th', { scope: 'col', class: 'right' }, 'safety fail'),
          ),
        ),
        h('tbody', {}, line('Pass'), line('Fail')),
      ),
    ),
  );
}

function boundsTable(task) {
  const columns = [
    { name: 'Operation', kind: 'text', value: (bound) => bound.kind },
    { name: 'Rate per second', kind: 'count', value: (bound) => bound.rate },
    { name: 'Judged', kind: 'text', value: (bound) => (bound.judged ? 'yes' : 'no') },
    { name: 'Success at least', kind: 'share', value: (bound) => (bound.judged ? bound.success_floor : null) },
    {
      name: 'p95 always fine under',
      kind: 'count',
      value: (bound) => (bound.judged ? bound.p95_floor : null),
      draw: (bound) => (bound.judged ? latency(bound.p95_floor) : NONE),
    },
  ];
  return h(
    'section',
    { class: 'block' },
    h('h2', {}, 'Load'),
    sortable({ label: 'Load', columns, rows: task.bounds, sort: null }).element,
  );
}

function definitions(pairs) {
  return h(
    'dl',
    { class: 'facts' },
    pairs.map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value))),
  );
}

/** A page for what is not there. */
function notFound(reason) {
  return {
    title: 'Not found',
    crumbs: [['#/', 'Results']],
    view: [h('h1', { tabindex: '-1' }, 'Not found'), h('p', {}, reason)],
  };
}
