import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runs } from '../../../src/cli/commands/state.ts';
import type { Context } from '../../../src/console/context.ts';
import { onTerminal } from '../../../src/console/events.ts';
import { log } from '../../../src/features/log/show.ts';
import { openStage } from '../../apply/stage.ts';
import { agentNamed, CANARIES } from '../../e2e/clinic.ts';

/** A month of a team: what it did, when and through which pull request. */
let stage: Awaited<ReturnType<typeof openStage>>;
let clock = new Date('2026-11-02T09:00:00.100Z');
const ran = new Map<string, string>();

const at = (time: string) => {
  clock = new Date(`2026-11-${time}:00.100Z`);
};

const by = (user: string, request = '', approved = '') => ({
  now: () => clock,
  env: {
    GITHUB_ACTOR: user,
    CALLSHEET_PULL_REQUEST: request,
    CALLSHEET_APPROVED_BY: approved,
    SMS_TOKEN_2: CANARIES.SMS_TOKEN,
  },
});

const AS_IT_WAS = 'Harbor Dental, how can I help?';

async function nameRun(name: string): Promise<void> {
  const { out } = await stage.run((to) =>
    runs(undefined, { dir: stage.folder, format: 'json' }, to),
  );
  ran.set(name, JSON.parse(out).runs[0].run);
}

const NIGHT = `
  night:
    name: Night desk
    status: active
    system_prompt: You take messages.
`;

beforeAll(async () => {
  stage = await openStage({ platformNow: () => clock });
  const edit = (agent: string, patch: object, actor: string) =>
    stage.sim.edit(agentNamed(stage.sim, agent).id, { ...patch }, actor);
  const agents = await stage.read('agents.yaml');
  await stage.write('agents.yaml', agents + NIGHT);
  await stage.apply({}, by('mina', '400', 'jo'));
  at('12T10:00');
  await stage.edit('agents.yaml', AS_IT_WAS, 'Harbor Dental, good day!');
  await stage.apply({}, by('mina', '412', 'jo, kim'));
  await nameRun('greeting');
  at('13T09:00');
  await stage.rollback({}, by('kim'));
  await nameRun('rollback');
  await stage.edit('agents.yaml', 'Harbor Dental, good day!', AS_IT_WAS);
  at('16T08:00');
  await stage.edit('agents.yaml', '  recall:', '  reminder:');
  await stage.edit('agents.yaml', 'due for a check-up.', 'due for a cleaning.');
  await stage.edit(
    'callsheet.yaml',
    'callsheet: 1',
    'callsheet: 1\nmoved: [{ from: agent.recall, to: agent.reminder }]',
  );
  await stage.apply({}, by('jo', '420', 'mina'));
  at('17T11:00');
  edit('Front desk', { greeting_message: 'Moin!' }, 'user:maria');
  at('24T14:00');
  await stage.edit('agents.yaml', 'due for a cleaning.', 'due for a visit.');
  await stage.apply({}, by('jo', '431', 'kim'));
  await nameRun('tuesday');
  at('25T09:30');
  await stage.edit('agents.yaml', 'env:SMS_TOKEN ', 'env:SMS_TOKEN_2 ');
  await stage.apply({}, by('mina', '440', 'jo'));
  at('26T16:00');
  await stage.write('agents.yaml', (await stage.read('agents.yaml')).replace(NIGHT, '\n'));
  await stage.apply({ allowDelete: true }, by('kim', '444', 'mina'));
  at('27T18:00');
  edit('Recall', { system_prompt: 'Call them all.' }, 'user:jo');
  at('28T08:00');
}, 120_000);

afterAll(async () => {
  expect(stage.leaks()).toEqual([]);
  await stage.close();
});

type Flags = Omit<Parameters<typeof log>[1], 'dir'>;

async function ask(
  wanted: string | undefined,
  flags: Partial<Flags> = {},
  { width = 80, exit = 0, outside = {} }: { width?: number; exit?: number; outside?: object } = {},
) {
  const said = await stage.run(
    (to) => {
      const render = { ...to.terminal.render, width };
      const context: Context = { ...to, ...onTerminal({ ...to.terminal, render }) };
      return log(wanted, { dir: stage.folder, format: 'text', ...flags }, context);
    },
    { ...by('jo'), exit, outside },
  );
  return said;
}

const QUESTIONS: readonly (readonly [
  question: string,
  address: string | undefined,
  flags: Partial<Flags>,
  says: readonly string[],
])[] = [
  [
    'who changed the greeting on day 12',
    'agent.desk.greeting_message',
    {},
    ['2026-11-12 10:00Z mina updated agent.desk.greeting_message', '"Harbor Dental, good day!"'],
  ],
  ['by which pull request', 'agent.desk.greeting_message', {}, ['pull request 412']],
  ['approved by whom', 'agent.desk.greeting_message', {}, ['approved by jo, kim']],
  [
    'undone when',
    'agent.desk.greeting_message',
    {},
    ['undone at 2026-11-13 09:00Z by run ROLLBACK (rollback)', 'rollback of GREETING'],
  ],
  [
    'who edited in the dashboard since Monday',
    'agent',
    { since: '2026-11-23' },
    ['2026-11-27 18:00Z user:jo edited agent.reminder, in fields that the platform does not name'],
  ],
  [
    'when was an agent removed, and by whom',
    'agent.night',
    {},
    ['2026-11-26 16:00Z kim deleted agent.night, which had'],
  ],
  ['what was it called before', 'agent.reminder', {}, ['renamed agent.recall to agent.reminder']],
  [
    "what did last Tuesday's apply undo",
    undefined,
    { since: '11d' },
    [
      '2026-11-17 11:00Z user:maria edited agent.desk.greeting_message',
      '"Harbor Dental, how can I help?" → "Moin!"',
      'undone at 2026-11-24 14:00Z by run TUESDAY (apply)',
      'undid 1 edit by user:maria',
    ],
  ],
  [
    'which sources of secrets changed',
    undefined,
    { since: '4d' },
    [
      '2026-11-25 09:30Z mina updated agent.desk.integrations.smsProvider.auth_token',
      '(secret) → (secret), from another source',
    ],
  ],
];

const unwrapped = (text: string) => text.replace(/\s+/g, ' ');

function named(text: string): string {
  return [...ran].reduce((all, [name, run]) => all.replaceAll(run, name.toUpperCase()), text);
}

describe('one command answers', () => {
  for (const [question, address, flags, says] of QUESTIONS)
    for (const width of [80, 60])
      test(`${question}, at ${width} columns`, async () => {
        const { out } = await ask(address, flags, { width });
        const text = unwrapped(named(out));
        for (const one of says) expect(text).toContain(one);
      });

  test('as JSON and Markdown, with the same changes', async () => {
    for (const [, address, flags] of QUESTIONS) {
      const { data } = JSON.parse((await ask(address, { ...flags, format: 'json' })).out);
      const table = (await ask(address, { ...flags, format: 'markdown' })).out;
      const rows = table.split('\n').filter((line) => line.startsWith('| 2026-'));
      expect(rows).toHaveLength(data.length);
      for (const [index, { address: named, run, action }] of data.entries()) {
        expect(rows[index]).toContain(named.split('.').at(-1));
        expect(rows[index]).toContain(run ?? (action === 'move' ? 'renamed agent.recall' : 'via'));
      }
      const times = data.map(({ at: time }: { at: string }) => time);
      expect(times).toEqual(times.toSorted().reverse());
    }
  });

  test('what a run changed', async () => {
    const { out } = await stage.run((to) =>
      runs(ran.get('greeting'), { dir: stage.folder, format: 'text' }, to),
    );
    expect(unwrapped(out)).toContain('updated Front desk agent.desk');
    expect(unwrapped(out)).toContain(
      'greeting_message: "Harbor Dental, how can I help?" → "Harbor Dental, good day!"',
    );
    expect(out).toMatch(/^pull request +412$/m);
  });
});
