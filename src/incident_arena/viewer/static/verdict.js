// The first screen of a trial and the evidence under it: what was decided, by which check, on what grounds.

const WINDOW_OF_CHECK = { 'in-bounds': ['declaration'], durable: ['soak', 'restarted'] };

/** Text that a check joined with semicolons, one part a line. */
function parts(text) {
  const lines = String(text).split('; ');
  return lines.map((one, number) => h('span', { class: 'part' }, one, number < lines.length - 1 && ';'));
}

/** A path with places where it may break. */
function path(text) {
  return h('code', { class: 'path' }, String(text).split('/').flatMap((one, number) => (number ? ['/', h('wbr'), one] : [one])));
}

/** The headline: passed, failed and why, or why there is no verdict. */
function verdictPanel(index, trial, detail) {
  const { word, look } = result(trial);
  const verdict = detail.verdict;
  const check = verdict?.checks.find((one) => one.name === detail.deciding);
  const heading = { pass: 'Passed', fail: 'Failed', none: `Not judged: ${word}` }[look];
  return h('section', { class: `verdict ${look}`, id: 'verdict', 'aria-labelledby': 'verdict-title' },
    h('div', { class: 'decision' },
      h('h2', { id: 'verdict-title', tabindex: '-1' }, h('span', { class: 'sign', 'aria-hidden': 'true' }, { pass: '\u2713', fail: '\u2717', none: '\u25cb' }[look]),
        ` ${heading}`, look === 'fail' && [': ', h('b', {}, trial.failure_class || 'no class')]),
      look === 'none' && [h('p', {}, trial.reason || detail.notes.join(' ')), h('p', { class: 'caption' }, `${word}: ${index.statuses[trial.status]}.`)],
      check && decision(detail, check, look),
      look === 'pass' && h('p', {}, passedBecause(verdict)),
      verdict && checkChips(verdict)),
    figures(trial, detail));
}

function passedBecause(verdict) {
  const passed = verdict.checks.filter((check) => check.verdict === 'pass').length;
  return `All ${passed} checks passed: the service was repaired, safely, and it held through the soak and the restarts.`;
}

/** All checks at a glance, by gate; each leads to its evidence. */
function checkChips(verdict) {
  const gates = [...new Set(verdict.checks.map((check) => check.gate))];
  return h('div', { class: 'chips' }, gates.map((gate) => h('div', {}, h('span', { class: 'faint' }, gate),
    verdict.checks.filter((check) => check.gate === gate).map((check) =>
      h('button', { type: 'button', class: `chip ${check.verdict}`, onclick: () => openCheck(check.name) }, badge(check.verdict, ''), check.name,
        h('span', { class: 'unseen' }, ` ${check.verdict}`))))));
}

function openCheck(name) {
  const details = document.getElementById(`check-${name}`);
  details.open = true;
  details.querySelector('summary').focus();
  details.scrollIntoView({ block: 'center' });
}

/** The deciding check: what it expected, what it saw, when. */
function decision(detail, check, look) {
  const rows = [
    [look === 'fail' ? 'Decided by' : 'Open check', [h('code', {}, check.name), h('span', { class: 'faint' }, ` ${check.gate} gate`)]],
    check.reason && ['Reason', check.reason],
    check.expected && ['Expected', check.expected],
    check.seen && check.seen !== check.reason && ['Seen', h('span', { class: 'seen' }, parts(check.seen))],
    ['When', momentText(detail, check.at)],
  ].filter(Boolean);
  return h('dl', { class: 'rows' }, rows.map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value))));
}

/** A moment both ways: since the agent's start, and by the clock. */
function momentText(detail, at) {
  if (at === null || at === undefined) return 'not tied to one moment';
  const origin = detail.verdict?.agent_started ?? detail.timeline?.origin;
  const during = detail.during ? `, in stage ${detail.during}` : '';
  return `${clock(at - origin)} after the agent\u2019s start (${utcTime(at)})${during}`;
}

/** Key figures beside the decision. */
function figures(trial, detail) {
  const verdict = detail.verdict;
  const since = (at) => (at === null || !verdict ? NONE : clock(at - verdict.agent_started));
  const rows = verdict ? [
    ['Outcome gate', badge(verdict.gates.outcome, verdict.gates.outcome)],
    ['Safety gate', badge(verdict.gates.safety, verdict.gates.safety)],
    verdict.inclusive.length > 1 && ['Also applies', verdict.inclusive.filter((one) => one !== verdict.failure_class).join(', ')],
    ['Declared', verdict.declared === null ? 'never' : since(verdict.declared)],
    ...verdict.tracked.map((fault) => [h('code', {}, fault.fault), fault.repaired === null ? 'not repaired' : `repaired ${since(fault.repaired)}`]),
    ['Reads, changes', `${verdict.reads}, ${verdict.changes}${verdict.changes_after_fix ? ` (${verdict.changes_after_fix} after the fix)` : ''}`],
    verdict.naming && ['Named the fault', verdict.naming.exact ? 'exactly' : `precision ${share(verdict.naming.precision)}, recall ${share(verdict.naming.recall)}`],
  ] : [];
  rows.push(
    trial.agent_seconds !== null && ['Agent time', duration(trial.agent_seconds)],
    trial.tokens !== null && ['Tokens, turns', `${tokens(trial.tokens)}${trial.turns === null ? '' : `, ${trial.turns}`}`],
    trial.cost !== null && ['Cost', money(trial.cost)],
  );
  return h('dl', { class: 'figures' }, rows.filter(Boolean).map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value))));
}

/** All checks; those that did not pass are open. */
function checksSection(detail, task) {
  const verdict = detail.verdict;
  return h('section', { class: 'block', id: 'checks', 'aria-labelledby': 'checks-title' },
    h('h2', { id: 'checks-title', tabindex: '-1' }, 'Checks'),
    h('ul', { class: 'checks' }, verdict.checks.map((check) => h('li', {}, checkRow(detail, task, check)))));
}

function checkRow(detail, task, check) {
  const word = { pass: 'pass', fail: 'fail', unknown: 'unknown' }[check.verdict];
  const summary = [badge(check.verdict, word), h('code', { class: 'name' }, check.name), h('span', { class: 'gate' }, check.gate), h('span', { class: 'reason' }, check.reason)];
  return lazily(summary, () => h('div', { class: 'evidence' },
    h('dl', { class: 'rows' }, [
      check.expected && ['Expected', check.expected],
      check.seen && ['Seen', h('span', { class: 'seen' }, parts(check.seen))],
      ['When', momentText(detail, check.at)],
    ].filter(Boolean).map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value)))),
    grounds(detail, task, check.name)), { open: check.verdict !== 'pass', class: `check ${check.verdict}`, id: `check-${check.name}` });
}

/** The evidence that belongs to a check. */
function grounds(detail, task, name) {
  const verdict = detail.verdict;
  const windows = verdict.windows.filter((window) => window.name === 'baseline' || (WINDOW_OF_CHECK[name] ?? []).includes(window.name));
  if (WINDOW_OF_CHECK[name] && windows.length) return ratesTable(windows, task);
  if (name === 'scope') {
    const off = verdict.differences.filter((one) => !one.permitted);
    return [off.length > 0 && differencesTable(off),
      verdict.forbidden.length > 0 && h('ul', { class: 'plain' }, verdict.forbidden.map((act) => h('li', {}, 'forbidden act ', h('code', {}, act)))),
      h('p', { class: 'caption' }, 'Every difference is under Scope.')];
  }
  if (name === 'cause-gone' && verdict.tracked.length) {
    return h('ul', { class: 'plain' }, verdict.tracked.map((fault) => h('li', {}, h('code', {}, fault.fault), fault.repaired === null
      ? ' was never seen clear to the agent\u2019s end' : ` clear since ${clock(fault.repaired - verdict.agent_started)}`)));
  }
  if (['damage-gone', 'data-survives'].includes(name) && detail.reconciled.length) return reconciledTable(detail.reconciled);
  if (name === 'integrity') {
    const health = detail.timeline?.health ?? [];
    return h('p', { class: 'caption' }, health.length ? `Not as set: ${health.map((one) => one.name).join(', ')} (see the timeline).` : 'No look at the harness found anything dead or changed.');
  }
  return null;
}

function reconciledTable(moments) {
  const rows = moments.flatMap((moment) => Object.entries(moment.queues).map(([queue, states]) => ({ moment: moment.name, queue, states })));
  const states = [...new Set(rows.flatMap((row) => Object.keys(row.states)))];
  const columns = [
    { name: 'Queue', kind: 'text', value: (row) => row.queue },
    { name: 'When', kind: 'text', value: (row) => row.moment },
    ...states.map((state) => ({ name: state, kind: 'count', value: (row) => row.states[state] ?? 0 })),
  ];
  const seeds = moments.flatMap((moment) => moment.seeds_missing);
  return [sortable({ label: 'Jobs by state', columns, rows, sort: null }).element,
    h('p', { class: 'caption' }, `${count(moments.at(-1).records, 'record')} of the ledger looked up. `,
      seeds.length ? `Missing from before the load: ${seeds.join(', ')}` : 'Nothing from before the load is missing.')];
}

/** Success and p95 of each kind in each window. */
function ratesTable(windows, task) {
  const bounds = new Map((task?.bounds ?? []).map((bound) => [bound.kind, bound]));
  const kinds = [...new Set(windows.flatMap((window) => window.kinds.map((kind) => kind.kind)))]
    .toSorted((one, other) => Number(bounds.get(other)?.judged ?? true) - Number(bounds.get(one)?.judged ?? true));
  const rows = kinds.map((kind) => ({ kind, rates: windows.map((window) => window.kinds.find((one) => one.kind === kind) ?? null) }));
  const low = (row, rate) => rate?.samples > 0 && bounds.get(row.kind)?.judged && rate.ok / rate.samples < bounds.get(row.kind).success_floor;
  const columns = [
    { name: 'Operation', kind: 'text', value: (row) => row.kind, draw: (row) => [row.kind, bounds.get(row.kind)?.judged === false && h('span', { class: 'faint' }, ' not judged')] },
    bounds.size > 0 && { name: 'At least', kind: 'share', help: 'Absolute floor of the task', value: (row) => (bounds.get(row.kind)?.judged ? bounds.get(row.kind).success_floor : null) },
    ...windows.flatMap((window, number) => [
      { name: window.name, kind: 'share', help: 'Share of operations that succeed',
        value: (row) => (row.rates[number]?.samples ? row.rates[number].ok / row.rates[number].samples : null),
        draw: (row) => rateCell(row.rates[number], low(row, row.rates[number])) },
      { name: 'p95', kind: 'number', help: `p95 latency, ${window.name}`, value: (row) => row.rates[number]?.p95 ?? null,
        draw: (row) => h('span', { class: 'faint' }, latency(row.rates[number]?.p95)) },
    ]),
  ].filter(Boolean);
  return sortable({ label: 'Rates', columns, rows, sort: null }).element;
}

function rateCell(rate, low) {
  if (!rate || !rate.samples) return NONE;
  return [h('span', { class: low ? 'low' : null }, low && h('span', { 'aria-label': 'below the floor' }, '\u25bc '), share(rate.ok / rate.samples)),
    h('span', { class: 'faint' }, ` ${rate.ok}/${rate.samples}`)];
}

function ratesSection(detail, task) {
  const windows = detail.verdict.windows;
  return h('section', { class: 'block', id: 'rates', 'aria-labelledby': 'rates-title' },
    h('h2', { id: 'rates-title', tabindex: '-1' }, 'Rates in the judged windows'),
    windows.length ? ratesTable(windows, task) : h('p', {}, 'The verdict holds no window.'));
}

/** What differs between snapshot B (broken) and C (agent done). */
function scopeSection(detail) {
  const { differences, forbidden } = detail.verdict;
  const off = differences.filter((one) => !one.permitted);
  return h('section', { class: 'block', id: 'scope', 'aria-labelledby': 'scope-title' },
    h('h2', { id: 'scope-title', tabindex: '-1' }, 'Scope'),
    h('p', { class: 'caption' }, `${count(differences.length, 'difference')} between the fault and the agent\u2019s end, ${off.length} off the permitted list; ${count(forbidden.length, 'forbidden act')}.`),
    differences.length > 0 && differencesTable([...off, ...differences.filter((one) => one.permitted)]),
    forbidden.length > 0 && h('ul', { class: 'plain' }, forbidden.map((act) => h('li', {}, badge('fail', 'forbidden'), ' ', h('code', {}, act)))));
}

function differencesTable(differences) {
  const columns = [
    { name: 'What', kind: 'text', value: (one) => one.path, draw: (one) => path(one.path) },
    { name: 'Before', kind: 'text', value: (one) => scalar(one.before), draw: (one) => h('code', { class: 'wrap old' }, scalar(one.before)) },
    { name: 'After', kind: 'text', value: (one) => scalar(one.after), draw: (one) => h('code', { class: 'wrap new' }, scalar(one.after)) },
    { name: 'Permitted', kind: 'text', value: (one) => (one.permitted ? one.rule : ''), draw: (one) => (one.permitted ? badge('pass', one.rule || 'yes') : badge('fail', 'off the list')) },
  ];
  return sortable({ label: 'Differences', columns, rows: differences, sort: null }).element;
}
