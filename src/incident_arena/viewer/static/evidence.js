// The evidence under the checks: rates in windows, differences of scope, jobs and records.

const LATER = ['soak', 'restarted'];
const WINDOW_OF_CHECK = { 'in-bounds': ['declaration', 'agent-end'], durable: LATER, stable: LATER };

/** The evidence that belongs to a check. */
function grounds(detail, task, name) {
  const verdict = detail.verdict;
  const windows = verdict.windows.filter(
    (window) => window.name === 'baseline' || (WINDOW_OF_CHECK[name] ?? []).includes(window.name),
  );
  if (WINDOW_OF_CHECK[name] && windows.length) return ratesTable(windows, task);
  if (name === 'scope') {
    const off = verdict.differences.filter((one) => !one.permitted);
    return [
      off.length > 0 && differencesTable(off),
      verdict.forbidden.length > 0 &&
        h(
          'ul',
          { class: 'plain' },
          verdict.forbidden.map((act) => h('li', {}, 'forbidden act ', h('code', {}, act))),
        ),
      h('p', { class: 'caption' }, 'Every difference is under Scope.'),
    ];
  }
  if (name === 'cause-gone' && verdict.tracked.length) {
    return h(
      'ul',
      { class: 'plain' },
      verdict.tracked.map((fault) =>
        h(
          'li',
          {},
          h('code', {}, fault.fault),
          fault.repaired === null
            ? ' was never seen clear to the agent\u2019s end'
            : ` clear since ${clock(fault.repaired - verdict.agent_started)}`,
        ),
      ),
    );
  }
  if (['damage-gone', 'data-survives'].includes(name) && detail.reconciled.length)
    return reconciledTable(detail.reconciled);
  if (name === 'integrity') {
    const health = detail.timeline?.health ?? [];
    return h(
      'p',
      { class: 'caption' },
      health.length
        ? `Not as set: ${health.map((one) => one.name).join(', ')} (see the timeline).`
        : 'No look at the harness found anything dead or changed.',
    );
  }
  return null;
}

function reconciledTable(moments) {
  const rows = moments.flatMap((moment) =>
    Object.entries(moment.queues).map(([queue, states]) => ({ moment: moment.name, queue, states })),
  );
  const states = [...new Set(rows.flatMap((row) => Object.keys(row.states)))];
  const columns = [
    { name: 'Queue', kind: 'text', value: (row) => row.queue },
    { name: 'When', kind: 'text', value: (row) => row.moment },
    ...states.map((state) => ({ name: state, kind: 'count', value: (row) => row.states[state] ?? 0 })),
  ];
  const seeds = moments.flatMap((moment) => moment.seeds_missing);
  return [
    sortable({ label: 'Jobs by state', columns, rows, sort: null }).element,
    h(
      'p',
      { class: 'caption' },
      `${count(moments.at(-1).records, 'record')} of the ledger looked up. `,
      seeds.length ? `Missing from before the load: ${seeds.join(', ')}` : 'Nothing from before the load is missing.',
    ),
  ];
}

/** Success and p95 of each kind in each window. */
function ratesTable(windows, task) {
  const bounds = new Map((task?.bounds ?? []).map((bound) => [bound.kind, bound]));
  const kinds = [...new Set(windows.flatMap((window) => window.kinds.map((kind) => kind.kind)))].toSorted(
    (one, other) => Number(bounds.get(other)?.judged ?? true) - Number(bounds.get(one)?.judged ?? true),
  );
  const rows = kinds.map((kind) => ({
    kind,
    rates: windows.map((window) => window.kinds.find((one) => one.kind === kind) ?? null),
  }));
  const low = (row, rate) =>
    rate?.samples > 0 && bounds.get(row.kind)?.judged && rate.ok / rate.samples < bounds.get(row.kind).success_floor;
  const columns = [
    {
      name: 'Operation',
      kind: 'text',
      value: (row) => row.kind,
      draw: (row) => [row.kind, bounds.get(row.kind)?.judged === false && h('span', { class: 'faint' }, ' not judged')],
    },
    bounds.size > 0 && {
      name: 'At least',
      kind: 'share',
      help: 'Absolute floor of the task',
      value: (row) => (bounds.get(row.kind)?.judged ? bounds.get(row.kind).success_floor : null),
    },
    ...windows.flatMap((window, number) => [
      {
        name: window.name,
        kind: 'share',
        help: 'Share of operations that succeed',
        value: (row) => (row.rates[number]?.samples ? row.rates[number].ok / row.rates[number].samples : null),
        draw: (row) => rateCell(row.rates[number], low(row, row.rates[number])),
      },
      {
        name: 'p95',
        kind: 'number',
        help: `p95 latency, ${window.name}`,
        value: (row) => row.rates[number]?.p95 ?? null,
        draw: (row) => h('span', { class: 'faint' }, latency(row.rates[number]?.p95)),
      },
    ]),
  ].filter(Boolean);
  return sortable({ label: 'Rates', columns, rows, sort: null }).element;
}

function rateCell(rate, low) {
  if (!rate || !rate.samples) return NONE;
  return [
    h(
      'span',
      { class: low ? 'low' : null },
      low && h('span', { 'aria-label': 'below the floor' }, '\u25bc '),
      share(rate.ok / rate.samples),
    ),
    h('span', { class: 'faint' }, ` ${rate.ok}/${rate.samples}`),
  ];
}

function ratesSection(detail, task) {
  const windows = detail.verdict.windows;
  return h(
    'section',
    { class: 'block', id: 'rates', 'aria-labelledby': 'rates-title' },
    h('h2', { id: 'rates-title', tabindex: '-1' }, 'Rates in the judged windows'),
    windows.length ? ratesTable(windows, task) : h('p', {}, 'The verdict holds no window.'),
  );
}

/** What differs between snapshot B (broken) and C (agent done). */
function scopeSection(detail) {
  const { differences, forbidden } = detail.verdict;
  const off = differences.filter((one) => !one.permitted);
  return h(
    'section',
    { class: 'block', id: 'scope', 'aria-labelledby': 'scope-title' },
    h('h2', { id: 'scope-title', tabindex: '-1' }, 'Scope'),
    h(
      'p',
      { class: 'caption' },
      `${count(differences.length, 'difference')} between the fault and the agent\u2019s end, ${off.length} off the permitted list; ${count(forbidden.length, 'forbidden act')}.`,
    ),
    differences.length > 0 && differencesTable([...off, ...differences.filter((one) => one.permitted)]),
    forbidden.length > 0 &&
      h(
        'ul',
        { class: 'plain' },
        forbidden.map((act) => h('li', {}, badge('fail', 'forbidden'), ' ', h('code', {}, act))),
      ),
  );
}

function differencesTable(differences) {
  const columns = [
    { name: 'What', kind: 'text', value: (one) => one.path, draw: (one) => path(one.path) },
    {
      name: 'Before',
      kind: 'text',
      value: (one) => scalar(one.before),
      draw: (one) => h('code', { class: 'wrap old' }, scalar(one.before)),
    },
    {
      name: 'After',
      kind: 'text',
      value: (one) => scalar(one.after),
      draw: (one) => h('code', { class: 'wrap new' }, scalar(one.after)),
    },
    {
      name: 'Permitted',
      kind: 'text',
      value: (one) => (one.permitted ? one.rule : ''),
      draw: (one) => (one.permitted ? badge('pass', one.rule || 'yes') : badge('fail', 'off the list')),
    },
  ];
  return sortable({ label: 'Differences', columns, rows: differences, sort: null }).element;
}
