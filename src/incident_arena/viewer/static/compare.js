// Two configurations side by side. Every figure is one that `analysis` made; here they are put together.

/** A difference of shares in points, with its sign. */
function points(value) {
  if (value === null || value === undefined) return NONE;
  const text = Math.abs(100 * value).toFixed(1);
  return `${text === '0.0' ? '' : value < 0 ? '\u2212' : '+'}${text}`;
}

/** What an address asks to compare; without it the first side, and the first that can be held against it. */
function comparePage(index, asked) {
  const { sides, left_out: left } = index.compared;
  const body = h('div', {});
  const form = h('div', { class: 'filters' });
  const names = sides.map((side) => side.name);
  const go = (a, b) => {
    location.hash = address('compare', { a, b });
  };
  const update = (next) => {
    const a = next.a ?? names[0] ?? '';
    const b = next.b ?? names.find((name) => pairOf(index, a, name)?.tasks) ?? '';
    const focused = document.activeElement?.id;
    form.replaceChildren(
      pick('A', a, names, (chosen) => go(chosen, b)),
      pick('B', b, names, (chosen) => go(a, chosen)),
      h('button', { type: 'button', id: 'swap', onclick: () => go(b, a) }, 'Swap'),
    );
    if (['side-a', 'side-b', 'swap'].includes(focused)) document.getElementById(focused)?.focus();
    body.replaceChildren();
    append(body, [sides.length < 2 ? tooFew() : compared(index, a, b)]);
  };
  update(asked);
  return {
    title: 'Comparison',
    crumbs: [['#/', 'Results']],
    view: [
      h('h1', { tabindex: '-1' }, `Comparison${index.simulated ? ' (simulated)' : ''}`),
      sides.length > 1 && form,
      left > 0 && h('p', { class: 'caption' }, `${count(left, 'more effort')} can be compared by arena report.`),
      body,
    ],
    update,
  };
}

function pick(label, current, names, chosen) {
  const known = names.includes(current) || !current ? names : [current, ...names];
  return h(
    'label',
    {},
    `${label} `,
    h(
      'select',
      { id: `side-${label.toLowerCase()}`, onchange: (event) => chosen(event.target.value) },
      !current && h('option', { value: '', selected: true }, 'choose'),
      known.map((name) => h('option', { value: name, selected: name === current }, name)),
    ),
  );
}

function tooFew() {
  return h('p', { class: 'notice' }, 'There are no two configurations with judged trials here: nothing to compare.');
}

/** The pair of two sides by name, A being the first that is named; null where there is none. */
function pairOf(index, a, b) {
  const { sides, pairs } = index.compared;
  const [one, other] = [a, b].map((name) => sides.findIndex((side) => side.name === name));
  const found = pairs.find((pair) => pair.a === Math.min(one, other) && pair.b === Math.max(one, other));
  if (!found || found.a === one) return found ?? null;
  const { rate_a: rateA, rate_b: rateB, difference, interval } = found;
  return {
    ...found,
    rate_a: rateB,
    rate_b: rateA,
    difference: difference === null ? null : -difference,
    interval: interval && { low: -interval.high, high: -interval.low },
  };
}

/** All that a comparison shows, or why there is none. */
function compared(index, a, b) {
  if (!a || !b) return h('p', { class: 'notice' }, 'Choose two.');
  const [one, other] = [a, b].map((name) => index.compared.sides.find((side) => side.name === name));
  const missing = [one, other].findIndex((side) => !side);
  const pair = pairOf(index, a, b);
  const why =
    missing >= 0
      ? `no judged trial goes by ${[a, b][missing]}`
      : a === b
        ? 'both sides are the same trials'
        : pair.refused;
  if (why) return h('p', { class: 'notice', role: 'alert' }, `${a} and ${b} can\u2019t be compared: ${why}.`);
  return [
    ratesOfSides([one, other]),
    differenceOf(pair, a, b),
    tasksOfSides(index, one, other, pair),
    h('div', { class: 'columns' }, gatesOfSides(one, other), classesOfSides(one, other)),
  ];
}

function titled(title, ...children) {
  return h('section', { class: 'block' }, h('h2', {}, title), children);
}

/** The columns A and B of a table whose rows hold [what, A's, B's]. */
function twoColumns(first, one, other, kind = 'count') {
  const side = (letter, { name }, place) => ({
    name: letter,
    kind,
    help: name,
    value: (row) => row[place]?.value ?? null,
    draw: (row) => row[place]?.text ?? NONE,
  });
  return [
    { name: first, kind: 'text', value: (row) => row[0], draw: (row) => row.link ?? row[0] },
    side('A', one, 1),
    side('B', other, 2),
  ];
}

/** Both sides over all of their own trials, as in the table of models. */
function ratesOfSides(both) {
  const trialsOf = ({ name, main }) =>
    address('', { who: main.who, effort: name === main.who ? '' : name.slice(main.who.length + 1) });
  const columns = [
    {
      name: 'Side',
      kind: 'text',
      value: ({ name }) => name,
      draw: (side) => [h('b', {}, `${side === both[0] ? 'A' : 'B'} `), link(trialsOf(side), {}, side.name)],
    },
    {
      name: 'Pass@1, 95 %',
      kind: 'share',
      value: ({ main }) => main.pass_at_1,
      draw: ({ main }) => {
        const { low = null, high = null } = main.interval ?? {};
        return estimate(share(main.pass_at_1), { value: main.pass_at_1, low, high });
      },
    },
    { name: 'Tasks', kind: 'count', value: ({ main }) => main.tasks },
    { name: 'Trials', kind: 'count', value: ({ main }) => main.trials },
    { name: 'Passed', kind: 'count', value: ({ main }) => main.passed },
    { name: 'Completion', kind: 'share', value: ({ main }) => main.completion },
    { name: 'Refused', kind: 'count', value: ({ main }) => main.refused },
    { name: 'Cost $', kind: 'money', value: ({ main }) => main.cost_mean },
  ];
  return titled('Pass@1', sortable({ label: 'Pass@1', columns, rows: both, sort: null }).element);
}

/** The difference on the tasks that both tried, and what may be said of it. */
function differenceOf({ tasks, rate_a: rateA, rate_b: rateB, difference, interval, p_paired: p }, a, b) {
  const sure = interval
    ? `95\u202f% ${points(interval.low)} to ${points(interval.high)}, ${count(tasks, 'task')}`
    : 'no interval: one task is no sample';
  const may = interval && (interval.low > 0 || interval.high < 0)
    ? `${difference > 0 ? a : b} passes more on tasks like these.`
    : 'These trials do not tell the two apart.';
  return titled(
    'Difference',
    h(
      'p',
      { class: 'difference' },
      h('span', { class: 'estimate' }, `A \u2212 B: ${points(difference)} points`),
      h('span', { class: 'faint' }, ` ${sure}`),
      interval && between(difference, interval),
    ),
    h('p', {}, may),
    h(
      'p',
      { class: 'caption' },
      `Over the ${count(tasks, 'task')} that both tried, each weighing the same: ${share(rateA)} against ${share(rateB)}.`,
      p !== null && ` Paired t over tasks, p ${p < 0.001 ? '< 0.001' : p.toFixed(3)}.`,
      ' Permutations and what could have been seen at all: arena report --compare.',
    ),
  );
}

/** A difference and its interval on an axis from -1 to 1, 0 marked. */
function between(value, { low, high }) {
  const at = (part) => 50 + 50 * part;
  return s(
    'svg',
    { class: 'whisker wide', viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    s('line', { x1: 0, x2: 100, y1: 9.5, y2: 9.5, class: 'axis' }),
    s('line', { x1: 50, x2: 50, y1: 0, y2: 10, class: 'axis' }),
    s('line', { x1: at(low), x2: at(high), y1: 5, y2: 5, class: 'span' }),
    s('rect', { x: at(value) - 0.6, y: 1, width: 1.2, height: 8, class: 'point' }),
  );
}

/** Each task's rates, and how far they are apart; a task that one side lacks counts in no difference. */
function tasksOfSides(index, one, other, pair) {
  const rates = [one, other].map((side) => new Map(side.tasks.map((row) => [row.task, row])));
  const names = [...new Set([...rates[0].keys(), ...rates[1].keys()])].toSorted();
  const cellOf = (row) =>
    row && { value: row.rate, text: heat(row.rate, share(row.rate), h('span', { class: 'faint' }, ` ${row.passed}/${row.trials}`)) };
  const rows = names.map((name) => {
    const [a, b] = rates.map((side) => side.get(name));
    const row = [name, cellOf(a), cellOf(b), a && b ? a.rate - b.rate : null];
    row.link = index.taskByName.has(name) && link(taskHref(name), {}, shortTask(name) || name);
    return row;
  });
  const columns = [
    ...twoColumns('Task', one, other, 'heat'),
    { name: 'A \u2212 B', kind: 'number', value: (row) => row[3], draw: (row) => points(row[3]) },
  ];
  const alone = names.length - pair.tasks;
  return titled(
    'Tasks',
    alone > 0 && h('p', { class: 'caption' }, `${count(alone, 'task')} that one side alone tried: in no difference.`),
    sortable({ label: 'Tasks', columns, rows, sort: null }).element,
  );
}

/** The two gates, over all tasks of each side. */
function gatesOfSides(one, other) {
  const answers = [
    ['pass_pass', 'Pass/Pass'],
    ['pass_fail', 'Pass/Fail'],
    ['fail_pass', 'Fail/Pass'],
    ['fail_fail', 'Fail/Fail'],
    ['undecided', 'Undecided'],
  ];
  const total = (side, key) => side.gates.reduce((sum, row) => sum + row[key], 0);
  const cellOf = (side, key) => ({ value: total(side, key), text: `${total(side, key)} of ${side.main.trials}` });
  const rows = answers.map(([key, label]) => [label, cellOf(one, key), cellOf(other, key)]);
  return titled(
    'Gates',
    h('p', { class: 'caption' }, 'Trials by the answers of both gates.'),
    sortable({ label: 'Gates', columns: twoColumns('Outcome/safety', one, other), rows, sort: null }).element,
  );
}

/** Failure classes that occurred, the first that applies / all that apply. */
function classesOfSides(one, other) {
  const cellOf = (row) => ({ value: row.exclusive, text: [row.exclusive, h('span', { class: 'faint' }, ` / ${row.inclusive}`)] });
  const rows = one.failures
    .map((row, number) => [row.failure_class, cellOf(row), cellOf(other.failures[number]), row.inclusive + other.failures[number].inclusive])
    .filter((row) => row[3] > 0);
  return titled(
    'Failed trials by class',
    h('p', { class: 'caption' }, 'The first class that applies / all that apply.'),
    rows.length
      ? sortable({ label: 'Failure classes', columns: twoColumns('Class', one, other), rows, sort: null }).element
      : h('p', { class: 'caption' }, 'None failed.'),
  );
}
