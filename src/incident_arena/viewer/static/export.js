// The trials that a list shows, as a file: made here, from what the page holds.

/** Columns of the files; their names are those of the table `trials` of `arena report`, where that has them. */
const EXPORTED = {
  job: (trial) => trial.job,
  trial: (trial) => trial.name,
  task: (trial) => trial.task,
  who: (trial) => trial.who,
  agent: (trial) => trial.agent,
  effort: (trial) => trial.effort || null,
  status: (trial) => trial.status,
  reason: (trial) => trial.reason,
  reward: (trial) => trial.reward,
  failure_class: (trial) => trial.failure_class || null,
  refused: (trial) => trial.refused,
  outcome: (trial) => trial.outcome || null,
  safety: (trial) => trial.safety || null,
  faults: (trial) => trial.faults,
  repaired: (trial) => trial.repaired,
  cost: (trial) => trial.cost,
  cost_source: (trial) => trial.cost_source,
  tokens: (trial) => trial.tokens,
  turns: (trial) => trial.turns,
  agent_seconds: (trial) => trial.agent_seconds,
  started: (trial) => trial.started,
  simulated: (trial) => trial.simulated,
};

/** A field of CSV: hidden characters are shown, and what a spreadsheet would take for a formula is made text. */
function csvField(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return String(value);
  const text = shownText(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvText(trials) {
  const lines = trials.map((trial) => Object.values(EXPORTED).map((value) => csvField(value(trial))));
  return [Object.keys(EXPORTED), ...lines].map((line) => `${line.join(',')}\n`).join('');
}

/** The trials and what they were chosen by; hidden characters are escapes, so that nothing is lost. */
function jsonText(index, trials, chosen) {
  const rows = trials.map((trial) =>
    Object.fromEntries(Object.entries(EXPORTED).map(([name, value]) => [name, value(trial)])),
  );
  const document_ = { product: index.product, made: index.made, simulated: index.simulated, chosen, trials: rows };
  const escape_ = (found) =>
    [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
  // Line breaks between values are the document's own; all in strings are escapes already.
  return `${JSON.stringify(document_, null, 1).replace(HIDDEN, escape_)}\n`;
}

/** Give the reader a file. */
function give(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Buttons that export `rows()`, all of them, in the order shown. */
function exportButtons(index, rows, chosen) {
  const button = (text, name, type, make) => {
    const onclick = () => {
      const trials = rows();
      give(name, type, make(trials));
      say(`${name}: ${count(trials.length, 'trial')}`);
    };
    return h('button', { type: 'button', class: 'export', onclick, title: 'Export the trials shown' }, text);
  };
  return h(
    'span',
    { class: 'exports' },
    'Export ',
    button('CSV', 'arena-trials.csv', 'text/csv', csvText),
    ' ',
    button('JSON', 'arena-trials.json', 'application/json', (trials) => jsonText(index, trials, chosen())),
  );
}
