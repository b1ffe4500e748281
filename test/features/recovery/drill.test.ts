import { describe, expect } from 'vitest';
import { create } from '../../../src/features/recovery/snapshot-create.ts';
import { diff, show } from '../../../src/features/recovery/snapshot-show.ts';
import { type Stage, staged } from '../../apply/stage.ts';
import { agentNamed } from '../../e2e/clinic.ts';
import { FOR_KEY, take, withKey } from '../../snapshot/taking.ts';
import { accountOf, knowledgeBasesOf, ownState, restoreOn } from './restoring.ts';

const MANY = accountOf({ resellers: 2, organizations: 4, agents: 16 });
const PASSPHRASE = { CALLSHEET_SNAPSHOT_PASSPHRASE: 'correct horse battery staple' };
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
  const { summary, err } = await restoreOn(
    stage,
    file,
    { ...given, skipRefused: true },
    { env: UNSET, exit: 'any' },
  );
  expect(stage.writes().length).toBe(before);
  expect(err).toContain('A drill: everything in the snapshot counts as gone');
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

staged('a registration that only the earlier snapshot has is a difference', async (stage) => {
  await stage.apply();
  const { record } = agentNamed(stage.sim, 'Front desk');
  Object.assign(record, {
    sip_registration_data: { registrationEnabled: true, sipDomain: 'pbx.example.test' },
  });
  const before = await take(stage, 'before.snapshot', FOR_KEY);
  Object.assign(record, { sip_registration_data: null });
  const after = await take(stage, 'after.snapshot', FOR_KEY);
  const flags = { dir: stage.folder, format: 'json', ...(await withKey(stage)) } as const;
  const { out } = await stage.run((to) => diff(before.file, after.file, flags, to));
  const { changes } = JSON.parse(out);
  expect(changes).toMatchObject([{ address: 'agent.desk', fields: [{ path: 'sip' }] }]);
});

const BROKEN = 'agents: { one: { nam: One } }\n';

staged('files of a stack that cannot be read are no snapshot, and say so', async (stage) => {
  await stage.write('resources.yaml', BROKEN);
  const given = { dir: stage.folder, format: 'json', out: 'media.snapshot', media: true } as const;
  const { err } = await stage.run((to) => create(given, to), { exit: 1 });
  expect(err).toContain('no snapshot was written: --media keeps the files of the stack');
});

staged('secrets that are listed by names of their own are said to be', async (stage) => {
  await stage.apply();
  const { file } = await take(stage, 'then.snapshot', FOR_KEY);
  await stage.write('resources.yaml', BROKEN);
  const flags = { dir: stage.folder, format: 'json', ...(await withKey(stage)) } as const;
  const { err } = await stage.run((to) => show(file, undefined, flags, to), { env: UNSET });
  expect(err).toContain('secrets are listed by names of their own');
});

staged('a passphrase that is set and empty is named', async (stage) => {
  const { file } = await take(stage, 'then.snapshot', { encrypt: true }, PASSPHRASE);
  const flags = { dir: stage.folder, format: 'json' } as const;
  const env = { CALLSHEET_SNAPSHOT_PASSPHRASE: '' };
  const { err } = await stage.run((to) => show(file, undefined, flags, to), { env, exit: 1 });
  expect(err).toContain('CALLSHEET_SNAPSHOT_PASSPHRASE is set and empty');
});
