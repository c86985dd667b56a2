// What the agent said and did, step by step, and the logs.

const LONG_LINES = 14;

/** A block of text; a long one is cut to its first lines and opens in full. */
function textBlock(text, look) {
  const lines = text.split('\n');
  if (lines.length <= LONG_LINES && text.length < 2400) return h('pre', { class: look }, text);
  const head = lines
    .slice(0, LONG_LINES - 4)
    .join('\n')
    .slice(0, 1600);
  const block = h('pre', { class: look }, head, '\n\u2026');
  const button = h(
    'button',
    { type: 'button', class: 'more small', 'aria-expanded': 'false' },
    `Show all ${count(lines.length, 'line')}`,
  );
  button.addEventListener('click', () => {
    const open = button.getAttribute('aria-expanded') !== 'true';
    button.setAttribute('aria-expanded', String(open));
    button.textContent = open ? 'Show less' : `Show all ${count(lines.length, 'line')}`;
    block.replaceChildren(...shown(open ? text : `${head}\n\u2026`));
  });
  return h('div', {}, block, button);
}

/** One step: who, when, what was said, called and answered. */
function stepView(step, origin) {
  const at = Date.parse(step.at) / 1000;
  const when = Number.isFinite(at) && origin !== null ? clock(at - origin) : step.at;
  return h(
    'li',
    { class: `step ${['system', 'user', 'agent'].includes(step.source) ? step.source : ''}` },
    h(
      'div',
      { class: 'step-head' },
      h('span', { class: 'step-number' }, `#${step.number}`),
      h('span', { class: 'who' }, step.source),
      when && h('span', { class: 'faint', title: step.at }, when),
      step.model && h('span', { class: 'faint' }, step.model),
    ),
    h(
      'div',
      { class: 'step-body' },
      step.reasoning &&
        h(
          'details',
          { class: 'reasoning' },
          h('summary', {}, 'Reasoning'),
          h('pre', { class: 'prose' }, step.reasoning),
        ),
      step.text && textBlock(step.text, 'prose'),
      step.calls.map((call) =>
        h('div', { class: 'call' }, h('div', { class: 'call-name' }, call.name), textBlock(call.arguments, 'code')),
      ),
      step.results.filter(Boolean).map((answer) => textBlock(answer, 'answer')),
    ),
  );
}

function transcriptBody(transcript, origin) {
  if (!transcript) return [h('p', {}, 'The trial left no transcript and no log.')];
  return [
    transcript.note && h('p', { class: 'notice' }, transcript.note),
    transcript.steps.length > 0 &&
      h(
        'ol',
        { class: 'steps' },
        transcript.steps.map((step) => stepView(step, origin)),
      ),
    transcript.steps_left_out > 0 &&
      h(
        'p',
        { class: 'caption' },
        `${count(transcript.steps_left_out, 'later step')} left out; all are in agent/trajectory.json.`,
      ),
    transcript.steps.length === 0 &&
      !transcript.note &&
      h('p', { class: 'caption' }, 'There is no trajectory; what was printed is in the logs.'),
    transcript.logs.map((log, number) =>
      lazily(h('code', {}, log.name), () => h('pre', { class: 'log', tabindex: '0' }, log.text), {
        class: 'logfile',
        open: number === 0 && transcript.steps.length === 0,
      }),
    ),
  ];
}

/** The section; its content comes when the pack is there. */
function transcriptSection(index, trial, origin) {
  const body = h('div', { 'aria-busy': 'true' }, h('p', { class: 'loading' }, 'Reading the transcript \u2026'));
  fetchDocument(index, trial.transcript)
    .then(
      (transcript) =>
        body.replaceChildren(
          ...append(document.createDocumentFragment(), transcriptBody(transcript, origin)).childNodes,
        ),
      (error) => body.replaceChildren(h('p', { class: 'notice', role: 'alert' }, error.message)),
    )
    .finally(() => body.removeAttribute('aria-busy'));
  return h(
    'section',
    { class: 'block', id: 'transcript', 'aria-labelledby': 'transcript-title' },
    h('h2', { id: 'transcript-title', tabindex: '-1' }, 'Transcript and logs'),
    body,
  );
}
