import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { longStaged, type Stage, staged } from '../../apply/stage.ts';
import { agentNamed } from '../../e2e/clinic.ts';
import { FOR_KEY, take, withKey } from '../../snapshot/taking.ts';
import { typedCommands } from '../../typed-commands.ts';
import { fleetOf, mediaOf, ownState, restoreOn, wipe } from './restoring.ts';

const KEY = { CALLSHEET_SNAPSHOT_PASSPHRASE: 'correct horse battery' };
/** Without the stack, which has the secrets and the files. */
const BARE = { dir: '.' };
const NO_SECRETS = { SMS_TOKEN: '', CRM_KEY: '', MCP_TOKEN: '' };

const flat = (text: string) => text.replaceAll(/\s+/g, ' ');

describe('a file that is no snapshot to restore', () => {
  staged('is refused before anything is asked', async (stage) => {
    await stage.apply();
    const { file } = await take(stage);
    const text = gunzipSync(await readFile(file)).toString();
    const put = async (name: string, bytes: Buffer) => {
      await writeFile(join(stage.folder, name), bytes);
      return join(stage.folder, name);
    };
    const cut = await put('cut.snapshot', await readFile(file));
    await truncate(cut, 900);
    const newer = text.replace('"version":1', '"version":99');
    const sealed = await take(stage, 'sealed.snapshot', {}, KEY);
    const rows: readonly (readonly [file: string, said: string, env?: Record<string, string>])[] = [
      [cut, 'it was cut off'],
      [await put('newer.snapshot', gzipSync(newer)), 'newer'],
      [await put('no.snapshot', Buffer.from('agents: {}')), 'is not a snapshot of Callsheet'],
      [sealed.file, 'it needs its passphrase'],
      [sealed.file, 'passphrase', { CALLSHEET_SNAPSHOT_PASSPHRASE: 'another one entirely' }],
      [join(stage.folder, 'none.snapshot'), 'there is no such file'],
      [join(stage.folder, 'none.snapshot'), '`callsheet snapshot list` shows the snapshots'],
    ];
    const asked = stage.sim.requests.length;
    for (const [one, said, env = {}] of rows) {
      const { err } = await restoreOn(stage, one, { state: ownState(stage) }, { exit: 1, env });
      expect(flat(err)).toContain(said);
    }
    expect(stage.sim.requests.length).toBe(asked);
  });

  staged('of another platform finds none of its organizations here', async (stage) => {
    await stage.apply();
    const { file } = await take(stage);
    const { store } = stage.sim;
    for (const id of [...store.organizations.keys()]) store.organizations.delete(id);
    const { err } = await restoreOn(stage, file, { state: ownState(stage) }, { exit: 1 });
    expect(flat(err)).toContain('organizations of the snapshot do not exist');
    expect(err).toContain('--map-organization OLD=NEW');
  });
});

describe('a target that is not empty', () => {
  staged('needs no word where all that is there equals the snapshot', async (stage) => {
    await stage.apply();
    const before = fleetOf(stage.sim);
    const { file } = await take(stage);
    // No endpoint deletes a voice or a document: they outlive the rest of their fleet.
    stage.sim.store.agents.clear();
    stage.sim.store.retryPolicies.clear();
    const dry = await restoreOn(stage, file, { format: 'text', dryRun: true });
    const [way = ''] = typedCommands(dry.out).slice(-1);
    expect(way).toMatch(/^callsheet restore \S+ --dir /);
    const { summary } = await restoreOn(stage, file);
    expect(summary().status).toBe('done');
    expect(fleetOf(stage.sim)).toEqual(before);
  });

  staged('is named with the flag that the restore needs', async (stage) => {
    await stage.apply();
    const { file } = await take(stage);
    stage.sim.edit(agentNamed(stage.sim).id, { status: 'inactive' });
    const dry = { format: 'text', dryRun: true } as const;
    const { out } = await restoreOn(stage, file, dry, { exit: 4 });
    const [way = ''] = typedCommands(out).slice(-1);
    expect(way).toContain(' --over');
  });

  staged('needs a word, which makes what is there what it was', async (stage) => {
    await stage.apply();
    const before = fleetOf(stage.sim);
    const { file } = await take(stage);
    const { store } = stage.sim;
    const desk = agentNamed(stage.sim);
    const recall = agentNamed(stage.sim, 'Recall');
    // A damaged fleet: one agent is gone, another is not what it was, a third is somebody's own.
    store.agents.delete(recall.id);
    stage.sim.edit(desk.id, { greeting_message: 'Who is there?' });
    const other = { ...desk, id: 'ffffffff-0000-4000-8000-000000000001' };
    store.agents.set(other.id, { ...other, record: { ...desk.record, id: other.id, name: 'Own' } });
    const writes = stage.writes().length;
    const flags = { state: ownState(stage) };
    const refused = await restoreOn(stage, file, flags, { exit: 4 });
    expect(flat(refused.err)).toContain(
      'the target is not empty: 6 resources of the snapshot are there already (1 of them changed), and 1 other resource',
    );
    expect(refused.err).toContain(`agent.desk  ${desk.id}  differs`);
    // What is as it was is folded, unless somebody wants to see all of it.
    expect(refused.err).toMatch(/\n {2}5 equal: \S+, \S+, \S+ and 2 more; --verbose lists/);
    expect(refused.err).not.toMatch(/ {2}equal$/m);
    expect(stage.writes().length).toBe(writes);
    // A dry run says what the restore would, and ends as it would.
    const dry = await restoreOn(stage, file, { ...flags, dryRun: true }, { exit: 4 });
    expect(flat(dry.err)).toContain(
      'The restore needs --over: the target is not empty: 6 resources of the snapshot',
    );
    const dryOver = await restoreOn(stage, file, { ...flags, dryRun: true, over: true });
    expect(dryOver.err).not.toContain('--over');

    const over = await restoreOn(stage, file, { ...flags, over: true }, { env: NO_SECRETS });
    expect(over.summary()).toMatchObject({ status: 'done', remaining: [] });
    // What was only found again has the secrets that it had: the desk is the one of the snapshot.
    expect(over.summary().exceptions.filter(({ what }) => what === 'secret')).toEqual([]);
    expect(over.summary().collisions.filter((one) => !one.is_equal)).toHaveLength(1);
    expect(store.agents.get(other.id)?.record.name).toBe('Own');
    store.agents.delete(other.id);
    expect(fleetOf(stage.sim)).toEqual(before);
  });

  longStaged(
    'is one, too, once somebody edited what an earlier restoration made',
    async (stage) => {
      await stage.apply();
      const { file } = await take(stage);
      wipe(stage.sim);
      const flags = { state: ownState(stage) };
      await restoreOn(stage, file, flags);
      const desk = agentNamed(stage.sim);
      stage.sim.edit(desk.id, { system_prompt: 'Edited in the dashboard.' });
      const refused = await restoreOn(stage, file, flags, { exit: 4 });
      expect(flat(refused.err)).toContain('1 resource of the snapshot is there already (1 of them');
      expect(stage.sim.store.agents.get(desk.id)?.record.system_prompt).toMatch(/^Edited/);
      const over = await restoreOn(stage, file, { ...flags, over: true });
      expect(over.summary()).toMatchObject({ status: 'done', remaining: [] });
      expect(stage.sim.store.agents.get(desk.id)?.record.system_prompt).not.toMatch(/^Edited/);
    },
  );

  staged('takes no freeze for granted, and asks nobody who is not there', async (stage) => {
    await stage.apply();
    const { file } = await take(stage);
    wipe(stage.sim);
    const flags = { state: ownState(stage), autoApprove: false };
    const unasked = await restoreOn(stage, file, flags, { exit: 1 });
    expect(flat(unasked.err)).toContain('approval is needed, and there is no terminal to ask on');
    await stage.edit('callsheet.yaml', 'callsheet: 1\n', FROZEN);
    const frozen = await restoreOn(stage, file, { state: ownState(stage) }, { exit: 4 });
    expect(frozen.summary().status).toBe('refused');
    expect(stage.sim.store.agents.size).toBe(0);
    const { summary } = await restoreOn(stage, file, {
      state: ownState(stage),
      overrideFreeze: 'the fleet is gone',
    });
    expect(summary().status).toBe('done');
  });
});

const FROZEN = `callsheet: 1
guards:
  freeze:
    - { weekdays: [mon, tue, wed, thu, fri, sat, sun], zone: UTC, reason: holidays }
`;

describe('what no snapshot holds', () => {
  const prepared = async (stage: Stage, seal: Parameters<typeof take>[2] = {}) => {
    await stage.apply();
    const before = fleetOf(stage.sim);
    const { file } = await take(stage, 'then.snapshot', seal);
    const media = await mediaOf(stage.sim, join(stage.folder, 'media'));
    wipe(stage.sim);
    return { before, file, media, state: ownState(stage) };
  };

  staged('is asked for before anything is written', async (stage) => {
    const { before, file, media, state } = await prepared(stage, FOR_KEY);
    const flags = { ...BARE, media, state, ...(await withKey(stage)) };
    const missing = await restoreOn(stage, file, flags, {
      exit: 1,
      env: NO_SECRETS,
    });
    expect(flat(missing.err)).toContain('1 secret must be supplied, because no snapshot holds it');
    const name = 'AGENT_SMS_AUTH_TOKEN';
    expect(missing.err).toContain(name);
    expect(stage.sim.store.agents.size).toBe(0);
    const dry = await restoreOn(stage, file, { ...flags, dryRun: true });
    expect(dry.summary().secrets).toEqual([
      {
        address: 'agent.desk',
        any_of: [{ path: 'integrations.smsProvider.auth_token', variable: name }],
      },
    ]);
    // Without it all the rest is there, and a later run brings it along.
    const without = await restoreOn(stage, file, { ...flags, withoutSecrets: true });
    expect(without.summary().status).toBe('done');
    expect(without.summary().exceptions).toContainEqual({
      what: 'secret',
      address: 'agent.desk',
      message: expect.stringContaining('integrations.smsProvider.auth_token was not supplied'),
    });
    const env = { [name]: 'canary-sms-5f1c9a7e' };
    const later = await restoreOn(stage, file, flags, { env });
    expect(later.summary()).toMatchObject({ status: 'done', runs: [expect.any(String)] });
    const { integrations } = agentNamed(stage.sim).record;
    expect(JSON.stringify(integrations)).toContain('canary-sms-5f1c9a7e');
    expect(fleetOf(stage.sim)).toEqual(before);
  });

  longStaged('is asked for too where it was left out of a file in clear', async (stage) => {
    const { before, file, media, state } = await prepared(stage);
    const flags = { ...BARE, media, state };
    const { err } = await restoreOn(stage, file, flags, { exit: 1 });
    expect(flat(err)).toContain('3 secrets must be supplied');
    const without = await restoreOn(stage, file, { ...flags, withoutSecrets: true });
    expect(without.summary().status).toBe('done');
    const secrets = join(stage.folder, 'wanted.yaml');
    const lines = [
      'agent.desk:',
      '  integrations.smsProvider.auth_token: env:SMS_TOKEN',
      '  extensions.tools[crm_lookup].headers[X-Api-Key].value: env:CRM_KEY',
      '  extensions.mcp_servers[Calendar].auth_headers.Authorization: env:MCP_TOKEN',
    ];
    await writeFile(secrets, lines.join('\n'));
    const { summary } = await restoreOn(stage, file, { ...flags, secrets });
    expect(summary().status).toBe('done');
    expect(fleetOf(stage.sim)).toEqual(before);
    const unset = { env: { CRM_KEY: '' }, exit: 1 };
    const named = await restoreOn(stage, file, { ...flags, secrets }, unset);
    expect(named.err).toContain('names sources that cannot be read');
  });

  staged('is asked for too where it stands in what an element is known by', async (stage) => {
    const address = 'https://mcp.example.test/mcp?token=hush-0123';
    await stage.edit('agents.yaml', 'connection_name: Calendar', `connection_name: '${address}'`);
    const { before, file, media, state } = await prepared(stage);
    const secrets = join(stage.folder, 'wanted.yaml');
    const server = `extensions.mcp_servers["${address.replace('hush-0123', '(secret)')}"]`;
    const lines = [
      'agent.desk:',
      '  integrations.smsProvider.auth_token: env:SMS_TOKEN',
      '  extensions.tools[crm_lookup].headers[X-Api-Key].value: env:CRM_KEY',
      `  '${server}.connection_name': env:MCP_NAME`,
      `  '${server}.auth_headers.Authorization': env:MCP_TOKEN`,
    ];
    await writeFile(secrets, lines.join('\n'));
    const env = { MCP_NAME: address };
    const { err, summary } = await restoreOn(
      stage,
      file,
      { ...BARE, media, state, secrets },
      { env },
    );
    expect(summary().status).toBe('done');
    expect(err).not.toContain('hush');
    expect(fleetOf(stage.sim)).toEqual(before);
  });

  const PLACES: readonly (readonly [
    path: string,
    field: string,
    without: (of: never) => unknown,
  ])[] = [
    [
      'integrations.smsProvider.auth_token',
      'integrations',
      ({ smsProvider: _, ...others }: Record<string, unknown>) => ({
        ...others,
        smsProvider: null,
      }),
    ],
    [
      'extensions.tools[crm_lookup].headers[X-Api-Key].value',
      'extensions',
      (extensions: object) => ({ ...extensions, tools: [] }),
    ],
    [
      'extensions.tools[crm_lookup].headers[X-Api-Key].value',
      'extensions',
      ({ tools, ...others }: { readonly tools: readonly object[] }) => ({
        ...others,
        tools: tools.map((tool) => ({ ...tool, headers: [] })),
      }),
    ],
    [
      'extensions.mcp_servers[Calendar].auth_headers.Authorization',
      'extensions',
      (extensions: object) => ({ ...extensions, mcp_servers: [] }),
    ],
  ];
  for (const [at, [path, field, without]] of PLACES.entries())
    for (const isTaken of [true, false])
      staged(
        `${isTaken ? 'is' : 'is not'} asked for over what is there, ${at}: ${path}`,
        async (stage) => {
          await stage.apply();
          const { file } = await take(stage);
          const { id, record } = agentNamed(stage.sim);
          const edit = isTaken
            ? { [field]: without(record[field] as never) }
            : { description: 'x' };
          stage.sim.edit(id, edit as never);
          const flags = { ...BARE, state: ownState(stage), over: true };
          const dry = await restoreOn(stage, file, { ...flags, dryRun: true }, { env: NO_SECRETS });
          const asked = dry
            .summary()
            .secrets.flatMap(({ any_of: places }) => places.map((one) => one.path));
          expect(asked).toEqual(isTaken ? [path] : []);
          if (isTaken) {
            const { err } = await restoreOn(stage, file, flags, { exit: 1, env: NO_SECRETS });
            expect(flat(err)).toContain('1 secret must be supplied');
          }
          const done = await restoreOn(
            stage,
            file,
            { ...flags, withoutSecrets: true },
            { env: NO_SECRETS },
          );
          const told = done
            .summary()
            .exceptions.flatMap(({ what, message }) => (what === 'secret' ? [message] : []));
          expect(told).toEqual(
            isTaken ? [expect.stringContaining(`${path} was not supplied`)] : [],
          );
          // Nothing is left that has a key and no value.
          const { extensions } = agentNamed(stage.sim).record;
          expect(JSON.stringify(extensions)).not.toContain('{"key":"X-Api-Key"}');
        },
      );

  staged('comes with the files that were kept in it', async (stage) => {
    await stage.apply();
    const bytes = () => [
      ...[...stage.sim.store.voices.values()].map(({ clip }) => clip.toString('hex')),
      ...[...stage.sim.store.sources.values()].map(({ upload }) => upload?.bytes?.toString('hex')),
    ];
    const before = bytes().sort();
    const { file } = await take(stage, 'then.snapshot', { media: true });
    const based = await take(stage, 'next.snapshot', { media: true, base: file });
    wipe(stage.sim);
    const flags = { ...BARE, state: ownState(stage), withoutSecrets: true };
    const { summary } = await restoreOn(stage, based.file, flags);
    expect(summary().exceptions.filter(({ what }) => what === 'file')).toEqual([]);
    expect(before).toHaveLength(3);
    expect(bytes().sort()).toEqual(before);
  });

  staged('leaves out a voice without its clip, and what would name it', async (stage) => {
    const { file, media, state } = await prepared(stage);
    const flags = { ...BARE, state, withoutSecrets: true };
    const { summary } = await restoreOn(stage, file, flags);
    const { status, exceptions } = summary();
    expect(status).toBe('done');
    expect(exceptions.flatMap(({ what, address }) => (what === 'file' ? [address] : []))).toEqual([
      'custom_voice.harbor',
      'knowledge_source.clinic.prices',
    ]);
    expect(exceptions.map(({ message }) => message)).toContain(
      'voice_settings.voice_id is left out, because its custom voice is not restored',
    );
    // Once somebody has found the files, the same command brings along what lacked them.
    const found = await restoreOn(stage, file, { ...flags, media });
    expect(found.summary().exceptions.filter(({ what }) => what === 'file')).toEqual([]);
    const [voice] = stage.sim.store.voices.keys();
    expect(agentNamed(stage.sim).record.voice_settings).toMatchObject({
      voice_id: voice,
      speed: 1.05,
    });
  });
});
