import type {
  Change,
  ChangeGroup,
  HistoryEntry,
  PlanDocument,
} from '../../../src/core/plan-document.ts';
import { groupAlike } from '../../../src/plan/groups.ts';
import { changeOf, fieldOf, HARBOR, planOf, UPTOWN } from '../../render/sample.ts';

/** Documents for the page. */

const SECTIONS = [
  'Role',
  'Greeting',
  'Booking',
  'Insurance',
  'Prices',
  'Directions',
  'Emergencies',
  'Messages',
  'Languages',
  'Closing',
];

/** A prompt of about `words` words, the same for the same seed. */
export function promptOf(words: number, seed = 1): string {
  const each = Math.max(2, Math.round(words / SECTIONS.length / 15));
  return SECTIONS.map((title, at) => {
    const said = Array.from({ length: each }, (_, n) => {
      const sentence = SENTENCES[(n * 5 + at * 7 + seed) % SENTENCES.length] ?? '';
      return sentence.replace('{n}', String(at * 10 + n + 2));
    });
    const half = Math.floor(each / 2);
    return `# ${title}\n\n${said.slice(0, half).join(' ')}\n\n- ${said.slice(half).join('\n- ')}\n`;
  }).join('\n');
}

const SENTENCES = [
  'Ask the caller for a full name and a date of birth, and repeat both back before you look anything up.',
  'Offer two times from the calendar, and if neither suits, ask which days are good for the family.',
  'Do not promise a price; say that the office sends an estimate within {n} working days.',
  'If the caller reports swelling, bleeding that does not stop or severe pain, transfer at once.',
  'Use crm_lookup with the number that the call comes from, and greet known callers by their name.',
  'Take a message with name, number and reason, and tell the caller when the front desk calls back.',
  'Speak slowly, in short sentences, and leave a pause after each question so that people can answer.',
  'The practice is open from 8 to 17 on weekdays; on Saturdays only the emergency line is staffed.',
  'Never book more than one visit in a call, however politely somebody asks for {n} of them.',
];

/** The same prompt as a person would edit it: a word here, a paragraph there, one moved, a negation turned. */
export function editedPrompt(prompt: string): string {
  const parts = prompt.split('\n\n');
  const at = (title: string) => parts.indexOf(`# ${title}`);
  const [directions] = parts.splice(at('Directions') + 1, 1);
  parts.splice(at('Closing') + 1, 0, directions ?? '');
  parts.splice(at('Prices') + 1, 0, 'Do not quote prices, and read {{price_list}} only if asked.');
  return parts
    .join('\n\n')
    .replace('Offer two times', 'Offer three times, the earliest first,')
    .replace('Do not promise a price', 'You may promise a price')
    .replace('Use crm_lookup', 'Use crm_search')
    .replace('open from 8 to 17', 'open from 9 to 18');
}

/** What a person meets in a review: references, a conflict, a secret, a delete that is held, a prompt. */
export function reviewPlan(): PlanDocument {
  const before = promptOf(2000);
  const after = editedPrompt(before);
  const policy = changeOf({
    address: 'retry_policy.gentle',
    name: 'Gentle redial',
    organization_id: null,
    action: 'create',
    after: { name: 'Gentle redial', rules: { no_answer: { delay_seconds: 900 } } },
    fields: [fieldOf('rules.no_answer.delay_seconds', null, 900)],
  });
  const voice = changeOf({
    address: 'custom_voice.harbor',
    name: 'Harbor',
    id: 'voice-0000-0000-0000-000000000001',
    fields: [fieldOf('language', 'en', 'en-US')],
  });
  const agents = ['reception', 'billing', 'night', 'overflow'].map((name, at) =>
    changeOf({
      address: `agent.${name}`,
      name: ['Front desk', 'Billing desk', 'Night line', 'Overflow'][at] ?? name,
      organization_id: at < 2 ? HARBOR : UPTOWN,
      id: `5d2b7f1a-0000-4000-8000-00000000000${at + 1}`,
      verdict: at === 2 ? 'refused' : 'ok',
      reason:
        at === 2
          ? 'the configuration and the platform both changed since the last apply'
          : 'the configuration changed',
      after: {
        default_retry_policy_id: { $ref: 'retry_policy.gentle' },
        voice_settings: { voice_id: 'voice-0000-0000-0000-000000000001' },
      },
      fields: [
        fieldOf('system_prompt', before, after, { cause: at === 2 ? 'conflict' : 'changed' }),
        fieldOf('default_retry_policy_id', null, { $ref: 'retry_policy.gentle' }),
        fieldOf('voice_settings.speed', 1, 1.05),
        fieldOf('integrations.smsProvider.auth_token', '(secret)', '(secret)', {
          secret: true,
          cause: 'secret_changed',
        }),
      ],
      operations: [{ step: 'update', fields: ['system_prompt', 'voice_settings'] }],
    }),
  );
  const gone = changeOf({
    address: 'sms_template.old_reminder',
    name: 'Old reminder',
    action: 'delete',
    verdict: 'held',
    lifted_by: 'allow_delete',
    reason: 'no longer configured',
    source: null,
    before: { name: 'Old reminder', body: 'See you {{day}}.', organization_id: HARBOR },
  });
  return planOf([policy, voice, ...agents, gone], {
    notes: [{ severity: 'warning', address: 'agent.billing', message: 'this prompt is very long' }],
    assumptions: ['agent.list-subset'],
  });
}

/** A base changes a prompt and a speed of many agents; some change by themselves, too. */
export function groupedPlan(count = 60): PlanDocument {
  const before = promptOf(400);
  const after = editedPrompt(before);
  const agents = Array.from({ length: count }, (_, at) =>
    changeOf({
      address: `agent.clinic["c-${String(at).padStart(3, '0')}"]`,
      name: `Clinic ${at}`,
      organization_id: at % 2 === 0 ? HARBOR : UPTOWN,
      id: `5d2b7f1a-0000-4000-8000-${String(at).padStart(12, '0')}`,
      source: `clinics.csv:${at + 2}`,
      fields: [
        fieldOf('system_prompt', before, after),
        ...(at % 2 === 0 ? [fieldOf('voice_settings.speed', 1, 1.05)] : []),
        ...(at === 7 ? [fieldOf('greeting_message', 'Hello.\nHow can I help?', 'Hi.\nYes?')] : []),
      ],
    }),
  );
  const undone = changeOf({
    address: 'agent.reception',
    reason: 'changed outside Callsheet by user:maria on 2026-02-27',
    fields: [fieldOf('voice_settings.speed', 1.2, 1, { cause: 'drifted' })],
  });
  const gone = changeOf({
    address: 'sms_template.old_reminder',
    name: 'Old reminder',
    action: 'delete',
    verdict: 'held',
    lifted_by: 'allow_delete',
    reason: 'no longer configured',
    source: null,
    before: { name: 'Old reminder', body: 'See you.', organization_id: HARBOR },
  });
  const changes = [...agents, undone, gone];
  return planOf(changes, { groups: groupsOf(changes) });
}

/** A delete, a new host of a secret, and one rule of a prompt for sixty agents in five towns. */
export function mixedPlan(): PlanDocument {
  const prompt = (place: string) => `You answer for ${place}.\n\n${promptOf(900)}`;
  const edit = (text: string) => text.replace('Do not promise a price', 'You may promise a price');
  const towns = ['alder-bay', 'birch-falls', 'cedar-point', 'dune-harbor', 'elm-crossing'];
  const agents = Array.from({ length: 60 }, (_, at) => {
    const key = `${towns[at % 5]}-${['lakeside', 'market-square', 'old-mill', 'station'][at % 4]}-${at % 3}`;
    return changeOf({
      address: `agent.clinic["${key}"]`,
      name: `Clinic ${at}`,
      calls: 150 + at,
      source: 'agents.yaml:4',
      fields: [fieldOf('system_prompt', prompt(key), edit(prompt(key)))],
    });
  });
  const host = changeOf({
    address: 'agent.night',
    name: 'Brightwater night line',
    calls: 412,
    source: 'agents.yaml:41',
    fields: [
      fieldOf(
        'extensions.tools[page_dentist].url',
        'https://pager.example.test/v2/page',
        'https://alerts.pagehost.example/v2/page',
      ),
    ],
    secrets: [
      {
        path: 'extensions.tools[page_dentist].headers.Authorization',
        source: null,
        before: 'pager.example.test',
        to: 'alerts.pagehost.example',
      },
    ],
  });
  const gone = changeOf({
    address: 'agent.old_front',
    name: 'Old front desk',
    calls: 38,
    action: 'delete',
    reason: 'no longer configured',
    source: null,
    before: { name: 'Old front desk', greeting_message: 'Thank you for calling.' },
  });
  const changes = [...agents, host, gone];
  return planOf(changes, {
    groups: groupsOf(changes),
    environment: 'production',
    stack: {
      name: 'clinics',
      commit: {
        id: 'cbf4c88d1f0a4be2a37d1d5d6d0b8a90c1e2f3a4',
        subject: 'Let front desks promise prices',
        author: 'Robin Vale',
        at: '2026-02-27T08:00:00Z',
        is_changed: false,
      },
    },
    assumptions: ['agent.delete'],
  });
}

/** The plan of a review, with `count` distinct greetings, so that there is a list to search. */
export function crowdedPlan(count = 40): PlanDocument {
  const review = reviewPlan();
  const greetings = Array.from({ length: count }, (_, at) =>
    changeOf({
      address: `agent.line_${at}`,
      name: `Line ${at}`,
      id: `5d2b7f1a-0000-4000-8001-${String(at).padStart(12, '0')}`,
      fields: [fieldOf('greeting_message', `Welcome to line ${at}.`, `Line ${at}, good morning.`)],
    }),
  );
  const { notes, assumptions } = review;
  return planOf([...review.changes, ...greetings], { notes, assumptions });
}

/** As the planner groups them, where every prompt comes from one file. */
function groupsOf(changes: readonly Change[]): readonly ChangeGroup[] {
  return groupAlike(changes, ({ path }) =>
    path === 'system_prompt' ? { file: 'prompts/front-desk.md' } : { file: 'bases.yaml', line: 14 },
  );
}

/** Drift of a few agents by some people, over days. */
export function driftPlan(): PlanDocument {
  const people = ['user:maria', 'user:jo', 'api_key:crm-sync', null];
  const changes = ['reception', 'billing', 'night', 'overflow', 'spanish'].map((name, at) => {
    const edits: readonly HistoryEntry[] = Array.from({ length: at + 1 }, (_, n) => ({
      id: 60 - at * 7 - n,
      action: n === 2 ? 'revert' : 'update',
      actor: people[(at + n) % people.length] ?? null,
      source: ['dashboard', 'api', 'api', null][(at + n) % 4] ?? null,
      at: `2026-02-${String(28 - at * 3 - n).padStart(2, '0')}T1${n}:2${at}:03.000Z`,
      reverted_from_id: n === 2 ? 12 : null,
    }));
    const ids = edits.map(({ id }) => id);
    return changeOf({
      address: `agent.${name}`,
      name: `Desk ${at + 1}`,
      reason: 'changed outside Callsheet',
      edits,
      fields: [
        fieldOf('greeting_message', 'Hello!', `Hello from desk ${at + 1}!`, {
          cause: 'drifted',
          attribution:
            ids.length === 1
              ? { certainty: 'entry', because: null, entries: ids }
              : { certainty: 'one_of', because: null, entries: ids },
        }),
        fieldOf('sip.registration_enabled', true, false, {
          cause: 'drifted',
          attribution: { certainty: 'unknown', because: 'not_recorded', entries: [] },
        }),
      ],
    });
  });
  return planOf(changes, { purpose: 'drift', assumptions: ['history.entries'] });
}

/** A fleet whose agents share a prompt that was edited, as `for_each` makes them. */
export function fleetPlan(count: number, words = 600): PlanDocument {
  const before = promptOf(words);
  const after = editedPrompt(before);
  const agents: readonly Change[] = Array.from({ length: count }, (_, at) => {
    const slug = `clinic-${String(at).padStart(5, '0')}`;
    const own = `You answer for ${slug}.\n\n`;
    const text = at % 10 === 0 ? [own + before, own + after] : [before, after];
    const [old = '', now = ''] = text;
    const action = at % 97 === 0 ? 'create' : at % 211 === 0 ? 'delete' : 'update';
    return changeOf({
      address: `agent.clinic["${slug}"]`,
      name: `Front desk ${slug}`,
      organization_id: at % 2 === 0 ? HARBOR : UPTOWN,
      id: action === 'create' ? null : `5d2b7f1a-0000-4000-8000-${String(at).padStart(12, '0')}`,
      action,
      verdict: action === 'delete' ? 'held' : 'ok',
      before: action === 'create' ? null : { name: slug, system_prompt: old },
      after:
        action === 'delete'
          ? null
          : {
              name: slug,
              system_prompt: now,
              default_retry_policy_id: { $ref: 'retry_policy.gentle' },
            },
      fields:
        action === 'delete'
          ? []
          : [
              fieldOf('system_prompt', action === 'create' ? null : old, now),
              fieldOf('voice_settings.speed', action === 'create' ? null : 1, 1.05),
            ],
      operations: [{ step: 'update', fields: ['system_prompt'] }],
    });
  });
  const policy = changeOf({
    address: 'retry_policy.gentle',
    name: 'Gentle redial',
    organization_id: null,
    action: 'create',
  });
  const changes = [policy, ...agents];
  return planOf(changes, { groups: groupsOf(changes) });
}
