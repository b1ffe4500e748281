import { describe, expect } from 'vitest';
import { create } from '../../../src/features/recovery/snapshot-create.ts';
import { show } from '../../../src/features/recovery/snapshot-show.ts';
import { type Stage, staged } from '../../apply/stage.ts';
import { FOR_KEY, take, withKey } from '../../snapshot/taking.ts';
import { accountOf, knowledgeBasesOf, ownState, restoreOn } from './restoring.ts';

const MANY = accountOf({ resellers: 2, organizations: 4, agents: 16 });
const UNSET = { SMS_TOKEN: '', CRM_KEY: '', MCP_TOKEN: '' };

/** A dry run without the snapshot's gaps and what every restore lists. */
async function drill(stage: Stage, file: string, flags: object) {
  const given = {
    ...flags,
    dryRun: true,
    asIfGone: true,
    autoApprove: false,
    ...(await withKey(stage)),
  };
  const before = stage.writes().length;
  const { summary } = await restoreOn(
    stage,
    file,
    { ...given, skipRefused: true },
    { env: UNSET, exit: 'any' },
  );
  expect(stage.writes().length).toBe(before);
  const { secrets, exceptions } = summary();
  const told = exceptions.filter(
    ({ what, message }) =>
      !(['never', 'secret'].includes(what) || message.includes('not in the snapshot')),
  );
  return { secrets, exceptions: told };
}

async function shown(stage: Stage, file: string, dir: string) {
  const flags = { dir, format: 'json', ...(await withKey(stage)) } as const;
  const { out } = await stage.run((to) => show(file, undefined, flags, to), { env: UNSET });
  return JSON.parse(out).restore;
}

describe('a drill before the disaster', () => {
  staged('lists of a stack what a restore of everything asks for', async (stage) => {
    await stage.apply();
    const { file, made } = await take(stage, 'then.snapshot', FOR_KEY);
    const listed = await shown(stage, file, stage.folder);
    expect(listed.secrets).toMatchObject([
      { address: 'agent.desk', any_of: [{ variable: 'SMS_TOKEN' }] },
    ]);
    expect(made.restore).toEqual(listed);
    expect(await drill(stage, file, {})).toEqual(listed);
  });

  staged(
    'lists of an account without a stack what a restore of everything asks for',
    async (stage) => {
      const { sim } = stage;
      const taken = { dir: '.', knowledgeBase: knowledgeBasesOf(sim), ...FOR_KEY };
      const { file, made } = await take(stage, 'then.snapshot', taken);
      const listed = await shown(stage, file, '.');
      expect(made.restore).toEqual(listed);
      expect(listed.secrets.length).toBeGreaterThan(5);
      const parts = listed.exceptions.map(({ part }: { part?: string }) => part);
      expect(parts).toContain('SIP registration');
      expect(await drill(stage, file, { dir: '.', state: ownState(stage) })).toEqual(listed);
    },
    { seed: MANY },
  );

  staged(
    'is announced where a snapshot is made',
    async (stage) => {
      const flags = { dir: '.', format: 'text', out: `${stage.folder}/then.snapshot` } as const;
      const { out } = await stage.run((to) => create(flags, to));
      expect(out.replace(/\s+/g, ' ')).toMatch(
        /A restore will ask for \d+ secrets, \d+ SIP registrations, and \d+ files. This lists them: callsheet snapshot show \S+then\.snapshot $/,
      );
      const text = await stage.run((to) =>
        show(flags.out, undefined, { dir: '.', format: 'text' }, to),
      );
      expect(text.out).toContain('To set up in the dashboard:');
    },
    { seed: MANY },
  );

  staged('is refused where it would write', async (stage) => {
    const { file } = await take(stage);
    const { err } = await restoreOn(stage, file, { asIfGone: true }, { exit: 1 });
    expect(err).toContain('--as-if-gone is for a drill and needs --dry-run');
  });
});
