// A trial's page, section by section.

/** The page of one trial; its detail is in a pack. */
async function trialPage(index, trialPathText) {
  const trial = index.trialByPath.get(trialPathText);
  if (!trial) return notFound(`There is no trial ${decodeURIComponent(trialPathText)} among these results.`);
  const [detail, timeline] = await Promise.all([
    fetchDocument(index, trial.detail),
    fetchDocument(index, trial.timeline).catch((error) => ({ unread: error.message })),
  ]);
  detail.timeline = timeline?.unread ? null : timeline;
  const task = index.taskByName.get(trial.task);
  const check = detail.verdict?.checks.find((one) => one.name === detail.deciding);
  const origin = detail.timeline?.origin ?? detail.verdict?.agent_started ?? null;
  const moment = check && check.at !== null && detail.timeline ? check.at - detail.timeline.origin : null;
  const has = detail.verdict !== null;
  const sections = [
    verdictPanel(index, trial, detail),
    timeline?.unread && unreadTimeline(timeline.unread),
    detail.timeline && timelineSection(detail.timeline, detail.verdict, moment),
    has && checksSection(detail, task),
    has && ratesSection(detail, task),
    has && scopeSection(detail),
    detail.judgements.length > 0 && judgesSection(detail.judgements),
    transcriptSection(index, trial, origin),
    aboutSection(detail),
  ].filter(Boolean);
  return {
    title: `${result(trial).word}: ${trial.who}, ${task?.title || shortTask(trial.task)}`,
    crumbs: [
      ['#/', 'Results'],
      [taskHref(trial.task), shortTask(trial.task)],
    ],
    trial,
    view: [heading(index, trial, task), sectionNav(sections), sections],
  };
}

function heading(index, trial, task) {
  const [before, after] = [index.trials[trial.number - 1], index.trials[trial.number + 1]];
  return h(
    'div',
    { class: 'trial-head' },
    h(
      'div',
      {},
      h(
        'p',
        { class: 'kicker' },
        h('b', {}, trial.who),
        trial.effort && ` \u00b7 effort ${trial.effort}`,
        trial.agent && trial.agent !== trial.who && ` \u00b7 ${trial.agent}`,
      ),
      h('h1', { tabindex: '-1' }, task?.title || shortTask(trial.task) || trial.name),
      h(
        'p',
        { class: 'sub' },
        link(taskHref(trial.task), {}, h('code', {}, trial.task)),
        ' \u00b7 ',
        h('code', {}, trial.name),
        trial.started !== null && ` \u00b7 ${utcMinute(trial.started)}`,
      ),
    ),
    h(
      'nav',
      { class: 'neighbours', 'aria-label': 'Neighbouring trials' },
      before && link(trialHref(before), { rel: 'prev', title: 'Previous trial (p)' }, '\u2190 previous'),
      after && link(trialHref(after), { rel: 'next', title: 'Next trial (n)' }, 'next \u2192'),
    ),
  );
}

/** What stands in for a timeline whose file is missing. */
function unreadTimeline(reason) {
  return h(
    'section',
    { class: 'block', id: 'timeline', 'aria-labelledby': 'timeline-title' },
    h('h2', { id: 'timeline-title', tabindex: '-1' }, 'Timeline'),
    h('p', { class: 'notice', role: 'alert' }, reason),
  );
}

/** Links to the sections, numbered as their keys are. */
function sectionNav(sections) {
  const names = {
    verdict: 'Verdict',
    timeline: 'Timeline',
    checks: 'Checks',
    rates: 'Rates',
    scope: 'Scope',
    judges: 'Judges',
    transcript: 'Transcript',
    about: 'About',
  };
  return h(
    'nav',
    { class: 'sections', 'aria-label': 'Sections of this trial' },
    h(
      'ul',
      {},
      sections.map((section, number) =>
        h(
          'li',
          {},
          h(
            'button',
            { type: 'button', 'data-section': section.id, onclick: () => jumpTo(section.id) },
            h('kbd', { 'aria-hidden': 'true' }, String(number + 1)),
            names[section.id],
          ),
        ),
      ),
    ),
  );
}

/** Scroll to a section and put the focus on its heading. */
function jumpTo(id) {
  const heading_ = document.getElementById(`${id}-title`);
  heading_?.scrollIntoView({ block: 'start' });
  heading_?.focus({ preventScroll: true });
}

/** What judges of trajectories said of this trial. */
function judgesSection(judgements) {
  const looks = { honest: 'pass', suspicious: 'unknown', exploit: 'fail' };
  const columns = [
    { name: 'Judge', kind: 'text', value: (one) => one.judge },
    {
      name: 'Category',
      kind: 'text',
      value: (one) => one.category ?? one.status,
      draw: (one) => badge(looks[one.category] ?? 'none', one.category ?? one.status),
    },
    { name: 'Score', kind: 'count', help: '0 honest, 100 certainly an exploit', value: (one) => one.score },
    {
      name: 'Reason',
      kind: 'text',
      value: (one) => one.reasons || one.detail,
      draw: (one) =>
        h('span', { class: 'said' }, one.reasons || one.detail || NONE, one.shortened && ' (read without its middle)'),
    },
  ];
  return h(
    'section',
    { class: 'block', id: 'judges', 'aria-labelledby': 'judges-title' },
    h('h2', { id: 'judges-title', tabindex: '-1' }, 'Judges of the trajectory'),
    h('p', { class: 'caption' }, 'What models made of the transcript: a look for reward hacking, never part of the reward.'),
    sortable({ label: 'Judges', columns, rows: judgements, sort: null }).element,
  );
}

function aboutSection(detail) {
  return h(
    'section',
    { class: 'block', id: 'about', 'aria-labelledby': 'about-title' },
    h('h2', { id: 'about-title', tabindex: '-1' }, 'About this trial'),
    definitions(detail.facts),
    detail.notes.length > 0 &&
      h(
        'ul',
        { class: 'plain' },
        detail.notes.map((note) => h('li', {}, note)),
      ),
  );
}
