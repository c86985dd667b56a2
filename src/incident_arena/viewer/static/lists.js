// The leaderboard and a task's page.

const FEW_TRIALS = 30;
const FEW_NOTES = 3;

/** The first page: figures from `analysis`, then every trial. */
function leaderboard(index, asked) {
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
  const list = trialList(index, index.trials, { withTask: true, asked });
  return {
    title: 'Results',
    crumbs: [],
    view: [
      h('h1', { tabindex: '-1' }, 'Results'),
      h(
        'p',
        { class: 'lead' },
        facts.map(([figureText, words]) => h('span', { class: 'fact' }, h('b', {}, figureText), ` ${words}`)),
        index.compared.sides.length > 1 && link('#/compare', {}, 'Compare two'),
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
      ordered(index, list.element),
      pictureSection(index),
      moreTables(index),
      h('p', { class: 'made' }, `Made ${utcMinute(index.made)} by incident-arena ${index.product}.`),
    ],
    update: list.update,
    focus: Object.keys(asked).length ? 'trials-title' : null,
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
function taskPage(index, name, asked) {
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
  const own = index.trials.filter((trial) => trial.task === name);
  const list = trialList(index, own, { withTask: false, asked });
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
      list.element,
    ],
    update: list.update,
    focus: Object.keys(asked).length ? 'trials-title' : null,
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
