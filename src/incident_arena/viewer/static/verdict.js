// The first screen of a trial and the evidence under it: what was decided, by which check, on what grounds.

/** Text that a check joined with semicolons, one part a line. */
function parts(text) {
  const lines = String(text).split('; ');
  return lines.map((one, number) => h('span', { class: 'part' }, one, number < lines.length - 1 && ';'));
}

/** A path with places where it may break. */
function path(text) {
  return h(
    'code',
    { class: 'path' },
    String(text)
      .split('/')
      .flatMap((one, number) => (number ? ['/', h('wbr'), one] : [one])),
  );
}

/** The headline: passed, failed and why, or why there is no verdict. */
function verdictPanel(index, trial, detail) {
  const { word, look } = result(trial);
  const verdict = detail.verdict;
  const check = verdict?.checks.find((one) => one.name === detail.deciding);
  const heading = { pass: 'Passed', fail: 'Failed', none: `Not judged: ${word}` }[look];
  return h(
    'section',
    { class: `verdict ${look}`, id: 'verdict', 'aria-labelledby': 'verdict-title' },
    h(
      'div',
      { class: 'decision' },
      h(
        'h2',
        { id: 'verdict-title', tabindex: '-1' },
        h('span', { class: 'sign', 'aria-hidden': 'true' }, { pass: '\u2713', fail: '\u2717', none: '\u25cb' }[look]),
        ` ${heading}`,
        look === 'fail' && [': ', h('b', {}, trial.failure_class || 'no class')],
      ),
      look !== 'none' &&
        trial.refused &&
        h('p', {}, 'Refused: the provider declined on grounds of safety, as the last thing it said.'),
      look === 'none' && [
        h('p', {}, trial.reason || detail.notes.join(' ')),
        h('p', { class: 'caption' }, `${word}: ${index.statuses[trial.status]}.`),
      ],
      check && decision(detail, check, look),
      look === 'pass' && h('p', {}, passedBecause(verdict)),
      verdict && checkChips(verdict),
    ),
    figures(trial, detail),
  );
}

function passedBecause(verdict) {
  const passed = verdict.checks.filter((check) => check.verdict === 'pass').length;
  return `All ${passed} checks passed: the service was repaired, safely, and it held through the soak and the restarts.`;
}

/** All checks at a glance, by gate; each leads to its evidence. */
function checkChips(verdict) {
  const gates = [...new Set(verdict.checks.map((check) => check.gate))];
  return h(
    'div',
    { class: 'chips' },
    gates.map((gate) =>
      h(
        'div',
        {},
        h('span', { class: 'faint' }, gate),
        verdict.checks
          .filter((check) => check.gate === gate)
          .map((check) =>
            h(
              'button',
              { type: 'button', class: `chip ${check.verdict}`, onclick: () => openCheck(check.name) },
              badge(check.verdict, ''),
              check.name,
              h('span', { class: 'unseen' }, ` ${check.verdict}`),
            ),
          ),
      ),
    ),
  );
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
    [
      look === 'fail' ? 'Decided by' : 'Open check',
      [h('code', {}, check.name), h('span', { class: 'faint' }, ` ${check.gate} gate`)],
    ],
    ['When', momentText(detail, check.at)],
    check.reason && check.reason !== check.seen && ['Reason', check.reason],
    ['Expected', check.expected || 'not stated'],
    ['Seen', h('span', { class: 'seen' }, parts(check.seen || check.reason || 'not stated'))],
  ].filter(Boolean);
  return h(
    'dl',
    { class: 'rows' },
    rows.map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value))),
  );
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
  const rows = verdict
    ? [
        ['Outcome gate', badge(verdict.gates.outcome, verdict.gates.outcome)],
        ['Safety gate', badge(verdict.gates.safety, verdict.gates.safety)],
        ownPolicy(verdict),
        ...otherPolicies(verdict),
        verdict.inclusive.length > 1 && [
          'Also applies',
          verdict.inclusive.filter((one) => one !== verdict.failure_class).join(', '),
        ],
        ['Declared', verdict.declared === null ? 'never' : since(verdict.declared)],
        ...verdict.tracked.map((fault) => [
          h('code', {}, fault.fault),
          fault.repaired === null ? 'not repaired' : `repaired ${since(fault.repaired)}`,
        ]),
        [
          'Reads, changes',
          `${verdict.reads}, ${verdict.changes}${verdict.changes_after_fix ? ` (${verdict.changes_after_fix} after the fix)` : ''}`,
        ],
        verdict.naming && [
          'Named the fault',
          verdict.naming.exact
            ? 'exactly'
            : `precision ${share(verdict.naming.precision)}, recall ${share(verdict.naming.recall)}`,
        ],
      ]
    : [];
  rows.push(
    trial.agent_seconds !== null && ['Agent time', duration(trial.agent_seconds)],
    trial.tokens !== null && [
      'Tokens, turns',
      `${tokens(trial.tokens)}${trial.turns === null ? '' : `, ${trial.turns}`}`,
    ],
    trial.cost !== null && ['Cost', `${money(trial.cost)}${reported(trial) ? ', as the agent reported' : ''}`],
  );
  const known = rows.filter(Boolean);
  if (!known.length) return null;
  return h(
    'dl',
    { class: 'figures' },
    known.map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value))),
  );
}

/** By which policy the reward is, where it is not the ordinary one. */
function ownPolicy({ policy }) {
  if (!policy || (policy.gates === 'ours' && policy.declaring === 'required')) return null;
  return ['By', policyName(policy.gates, policy.declaring)];
}

/** What other policies of a suite make of the trial, where that is something else. */
function otherPolicies(verdict) {
  const own = answers(verdict);
  return (verdict.graded ?? [])
    .filter((one) => answers(one) !== own)
    .map((one) => [policyName(one.mapping, one.declaring), answers(one)]);
}

function policyName(mapping, declaring) {
  return `${mapping === 'paper' ? 'The paper\u2019s' : 'Our'} gates, declaring ${declaring}`;
}

function answers({ gates, reward }) {
  return `outcome ${gates.outcome}, safety ${gates.safety}, ${reward === null ? 'no reward' : `reward ${reward}`}`;
}

/** All checks; those that did not pass are open. */
function checksSection(detail, task) {
  const verdict = detail.verdict;
  return h(
    'section',
    { class: 'block', id: 'checks', 'aria-labelledby': 'checks-title' },
    h('h2', { id: 'checks-title', tabindex: '-1' }, 'Checks'),
    h(
      'ul',
      { class: 'checks' },
      verdict.checks.map((check) => h('li', {}, checkRow(detail, task, check))),
    ),
  );
}

function checkRow(detail, task, check) {
  const word = { pass: 'pass', fail: 'fail', unknown: 'unknown' }[check.verdict];
  const summary = [
    badge(check.verdict, word),
    h('code', { class: 'name' }, check.name),
    h('span', { class: 'gate' }, check.gate),
    h('span', { class: 'reason' }, check.reason),
  ];
  return lazily(
    summary,
    () =>
      h(
        'div',
        { class: 'evidence' },
        h(
          'dl',
          { class: 'rows' },
          [
            check.expected && ['Expected', check.expected],
            check.seen && ['Seen', h('span', { class: 'seen' }, parts(check.seen))],
            ['When', momentText(detail, check.at)],
          ]
            .filter(Boolean)
            .map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value))),
        ),
        grounds(detail, task, check.name),
      ),
    { open: check.verdict !== 'pass', class: `check ${check.verdict}`, id: `check-${check.name}` },
  );
}
