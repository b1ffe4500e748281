import { describe, expect } from 'vitest';
import type { JsonObject } from '../../../../src/core/value.ts';
import { type Stage, staged } from '../../../apply/stage.ts';
import { agentNamed } from '../../../e2e/clinic.ts';
import { coveringRows } from '../../../long.ts';
import { agentId, agentRecord, commit, commitAll, git, pulled } from './stage.ts';

const FILE = 'prompts/desk.md';

/** The rules that were applied, a paragraph each. */
const RULES = ['Call back in 30 minutes.', 'Say good night.', 'We open at eight.'] as const;
type Rules = readonly (string | null)[];
const textOf = (rules: Rules) =>
  `# Night\n\n${rules.filter((rule) => rule !== null).join('\n\n')}\n`;

/** Edits of the rules by each side, and the rules that the files must have then: `null` is a rule that goes. */
const EDITS: readonly {
  readonly what: string;
  readonly live: Rules;
  readonly own: Rules;
  readonly merged: Rules;
  /** With the live words where both changed. */
  readonly theirs: Rules;
  readonly both: number;
}[] = [
  {
    what: 'each in a place of its own',
    live: [RULES[0], 'Say goodbye.', RULES[2]],
    own: [RULES[0], RULES[1], 'We open at nine.'],
    merged: [RULES[0], 'Say goodbye.', 'We open at nine.'],
    theirs: [RULES[0], 'Say goodbye.', 'We open at nine.'],
    both: 0,
  },
  {
    what: 'one place by both, and each one of its own',
    live: ['Call back in 45 minutes.', 'Say goodbye.', RULES[2]],
    own: ['Call back in 20 minutes.', RULES[1], 'We open at nine.'],
    merged: ['Call back in 20 minutes.', 'Say goodbye.', 'We open at nine.'],
    theirs: ['Call back in 45 minutes.', 'Say goodbye.', 'We open at nine.'],
    both: 1,
  },
  {
    what: 'the same place and no other',
    live: [RULES[0], RULES[1], 'We open at seven.'],
    own: [RULES[0], RULES[1], 'We open at nine.'],
    merged: [RULES[0], RULES[1], 'We open at nine.'],
    theirs: [RULES[0], RULES[1], 'We open at seven.'],
    both: 1,
  },
  {
    what: 'a rule that the files take out and somebody changes',
    live: ['Call back at once.', RULES[1], RULES[2]],
    own: [null, RULES[1], 'We open at nine.'],
    merged: [null, RULES[1], 'We open at nine.'],
    theirs: ['Call back at once.', RULES[1], 'We open at nine.'],
    both: 1,
  },
  {
    what: 'a rule that is new live, behind one that the files change',
    live: [...RULES, 'Never give a price.'],
    own: [RULES[0], RULES[1], 'We open at nine.'],
    merged: [RULES[0], RULES[1], 'We open at nine.', 'Never give a price.'],
    theirs: [RULES[0], RULES[1], 'We open at nine.', 'Never give a price.'],
    both: 0,
  },
];

/** Places of the text, and how a stage gets it there. */
const PLACES = {
  'a file of its own': async (stage: Stage, rules: Rules) => stage.write(FILE, textOf(rules)),
  'the YAML': async (stage: Stage, rules: Rules) => {
    const block = textOf(rules)
      .split('\n')
      .map((line) => (line === '' ? '' : `      ${line}`))
      .join('\n');
    const yaml = await stage.read('agents.yaml');
    const [own] = /system_prompt: (?:\{.*\}\n|\|\n(?: {6}.*\n|\n)*)/.exec(yaml) ?? [''];
    await stage.write('agents.yaml', yaml.replace(own, `system_prompt: |\n${block}`));
  },
};

async function conflicting(
  stage: Stage,
  { live, own }: (typeof EDITS)[number],
  put: (typeof PLACES)[keyof typeof PLACES],
) {
  await put(stage, RULES);
  await commitAll(stage);
  await stage.apply();
  stage.sim.edit(agentId(stage, 'Front desk'), { system_prompt: textOf(live).trimEnd() });
  await put(stage, own);
  commit(stage);
}

const contested = async (stage: Stage) =>
  (await stage.plan({}, { exit: 'any' })).changes.flatMap(({ fields }) =>
    fields.filter(({ cause }) => cause === 'conflict'),
  );
const written = ({ sim }: Stage) => String(agentNamed(sim).record.system_prompt).trimEnd();

type Pull = (
  stage: Stage,
  edit: (typeof EDITS)[number],
  put: (typeof PLACES)[keyof typeof PLACES],
) => Promise<void>;

/** How somebody pulls, and what the files say then. */
const PULLS: Readonly<Record<string, Pull>> = {
  async '--merge'(stage, { merged, own, both }, put) {
    const [field] = await contested(stage);
    expect(field).toMatchObject({ path: 'system_prompt', base: textOf(RULES).trimEnd() });
    const isNew = merged.join() !== own.join();
    const document = await pulled(stage, { merge: true }, { exit: both === 0 ? 0 : 4 });
    expect(document.status).toBe(isNew ? 'written' : 'nothing');
    expect(document.undecided ?? []).toHaveLength(both);
    await checkWritten(stage, merged, put);
    // Somebody still has to decide on what both changed.
    expect(await contested(stage)).toHaveLength(both);
    await stage.apply({ acceptConflicts: true });
    expect(written(stage)).toBe(textOf(merged).trimEnd());
  },
  async '--merge --theirs'(stage, { theirs }, put) {
    await pulled(stage, { merge: true, theirs: true });
    await checkWritten(stage, theirs, put);
    expect(await contested(stage)).toEqual([]);
    await stage.apply();
    expect(written(stage)).toBe(textOf(theirs).trimEnd());
  },
  async '--theirs alone takes all that is live'(stage, { live }, put) {
    await pulled(stage, { theirs: true });
    await checkWritten(stage, live, put);
  },
};

const ROWS = Object.entries(PLACES).flatMap(([place, put]) =>
  EDITS.flatMap((edit) =>
    Object.entries(PULLS).map(([how, pull]) => ({ place, put, edit, how, pull })),
  ),
);

describe('a text that both sides changed', () => {
  const taken = coveringRows(ROWS, ({ place, edit, how }) => [place, edit.what, how], 2);
  for (const { place, put, edit, how, pull } of taken)
    staged(`in ${place}, ${how}: ${edit.what}`, async (stage) => {
      await conflicting(stage, edit, put);
      await pull(stage, edit, put);
    });
});

/** The files say it as somebody would have written it by hand. */
async function checkWritten(
  stage: Stage,
  rules: Rules,
  put: (typeof PLACES)[keyof typeof PLACES],
): Promise<void> {
  const read = () => Promise.all([FILE, 'agents.yaml'].map((file) => stage.read(file)));
  const found = await read();
  await put(stage, rules);
  expect(found).toEqual(await read());
}

describe('what --merge cannot merge', () => {
  staged('a number that both changed keeps the value of the files, and is told', async (stage) => {
    await commitAll(stage);
    await stage.apply();
    const settings = agentRecord(stage, 'Front desk').voice_settings as JsonObject;
    const edited = { voice_settings: { ...settings, speed: 0.9 } };
    stage.sim.edit(agentId(stage, 'Front desk'), edited);
    await stage.edit('agents.yaml', 'speed: 1.05', 'speed: 1.1');
    commit(stage);
    const document = await pulled(stage, { merge: true }, { exit: 4 });
    const undecided = [{ path: 'voice_settings.speed' }];
    expect(document).toMatchObject({ status: 'nothing', undecided });
    await pulled(stage, { merge: true, theirs: true });
    expect(git(stage, 'diff', '-U0')).toMatch(/-.*speed: 1\.1 .*\n\+.*speed: 0\.9 /);
  });

  staged('what only the files changed is kept, with --theirs as well', async (stage) => {
    await commitAll(stage);
    await stage.apply();
    await stage.edit('agents.yaml', 'how can I help?', 'good day!');
    commit(stage);
    const { kept } = await pulled(stage, { merge: true, theirs: true });
    expect(kept).toMatchObject([{ path: 'greeting_message' }]);
    expect(git(stage, 'status', '--porcelain')).toBe('');
  });

  staged('a text whose last written version nobody has', async (stage) => {
    await stage.write(FILE, textOf(RULES).repeat(20));
    await stage.apply();
    stage.sim.edit(agentId(stage, 'Front desk'), { system_prompt: 'Be brief.\n\nBe kind.' });
    await stage.write(FILE, textOf(RULES));
    const { undecided } = await pulled(stage, { merge: true, allowDirty: true }, { exit: 4 });
    expect(undecided?.[0]?.reason).toContain('what was last applied is not known');
    await pulled(stage, { merge: true, theirs: true, allowDirty: true }, { exit: 4 });
    expect(await stage.read(FILE)).toBe(textOf(RULES));
  });
});
