import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { splitCommands } from '../../../src/core/command-line.ts';
import { openStateSeals } from '../../../src/state/open.ts';
import { formatState, parseState } from '../../../src/state/state-text.ts';
import { readMarkdown } from '../../render/visible.ts';
import { forgedState } from '../../state/tamper/table.ts';
import { scene } from './scene.ts';
import { agents, four } from './tree.ts';

/** A tampered state among the stacks of a tree: it is refused in each view in one sentence, and stops no other stack. */

const STATE = '.callsheet/state.json';
const GOOD = 'lagoon/south';
const BAD = 'harbor/east';
const bare = (text: string) => text.replace(/\s+/g, '');

/** Whatever stands in a name that somebody else gave. */
const HOSTILE = '<img src=x onerror=alert(1)> @everyone `x` | [a](javascript:1)';

type Row = {
  readonly tamper: (text: string) => string | Promise<string>;
  /** The key of the command; that of the team unless given. */
  readonly key?: undefined | '';
};

const ROWS: Readonly<Record<string, Row>> = {
  'has no seal': { tamper: (text) => text.replace(/"seal":"[^"]*",/, '') },
  'was changed': {
    tamper: (text) => forgedState(text, (state) => ({ ...Object(state), serial: 7 }), 'kept'),
  },
  'is sealed with another key': {
    async tamper(text) {
      const another = openStateSeals(
        { file: STATE },
        { env: { CALLSHEET_FINGERPRINT_KEY: 'another' } },
      );
      const vouched = openStateSeals({ file: STATE }, { env: {}, vouches: 'everything' });
      const plain = text.replace(/"seal":"[^"]*",/, '');
      return formatState(await parseState(plain, STATE, vouched), another);
    },
  },
  'is cut off': { tamper: (text) => text.slice(0, -20) },
  'is nothing': { tamper: () => '' },
  'is sealed, and there is no key': { tamper: (text) => text, key: '' },
  'is that of a stack of a hostile name': {
    tamper: (text) =>
      forgedState(
        text,
        (state) => ({ ...Object(state), owner: { stack: HOSTILE, environment: HOSTILE } }),
        'left out',
      ),
    key: '',
  },
};

const CASES = Object.entries(ROWS).flatMap(([how, row]) =>
  (['plan', 'apply'] as const).map((command) => [how, command, row] as const),
);

test.each(CASES)('a state that %s, in %s --recursive', async (how, command, row) => {
  const tree = await scene(four());
  const { run, read, at, put, writes } = tree;
  await run('apply', { autoApprove: true });
  put(`${GOOD}/agents.yaml`, agents('Desk lagoon/south', 'Another'));
  put(`${BAD}/agents.yaml`, agents('Desk harbor/east', 'Other'));
  const file = at(`${BAD}/${STATE}`);
  writeFileSync(file, await row.tamper(readFileSync(file, 'utf8')));
  const env = row.key === undefined ? {} : { CALLSHEET_FINGERPRINT_KEY: row.key };
  // Without the key every other sealed state is refused, too.
  if (row.key !== undefined)
    for (const path of [GOOD, 'harbor/north', 'summit/west'])
      rmSync(at(`${path}/.callsheet`), { recursive: true });
  const before = writes().length;
  const flags = command === 'apply' ? { autoApprove: true } : {};
  const document = await read(command, flags, { exit: 'any', env });
  const bad = document.stacks.find(({ path }) => path === BAD);
  const good = document.stacks.find(({ path }) => path === GOOD);
  expect(bad).toMatchObject({ error: { message: expect.stringContaining(STATE) } });
  expect(good?.error).toBeNull();
  // What is wrong with one stack stops no other, and the plan of the tree is whole in part.
  expect(document.exit).toBe(command === 'plan' && bad?.exit === 1 ? 3 : bad?.exit);
  expect(Object.keys(good?.counts ?? {})).toContain(command === 'plan' ? 'create' : 'done');
  expect(writes().length - before).toBe(command === 'plan' ? 0 : 1);
  const { message = '', hint = '' } = bad?.error ?? {};
  expect(hint, how).toMatch(/`callsheet |CALLSHEET_/);
  const formats = command === 'plan' ? (['text', 'markdown'] as const) : (['text'] as const);
  for (const format of formats) {
    const { out, err } = await run(command, { ...flags, format }, { exit: 'any', env });
    // A reviewer has the comment alone; a person at a terminal has both outputs.
    const shown = format === 'markdown' ? readMarkdown(out) : `${out}${err}`;
    const wanted = [
      message.split('\n')[0] ?? '',
      ...splitCommands(hint ?? '').map(({ text }) => text),
    ];
    for (const one of wanted) expect(bare(shown), out).toContain(bare(one));
    if (format === 'markdown') expect(out).not.toMatch(/<img|@everyone|`x`/);
  }
});
