import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runs } from '../../src/cli/commands/state.ts';
import { longStaged, type Stage, stagedBothWays } from '../apply/stage.ts';
import { ADDRESSES } from '../e2e/clinic.ts';
import { began, deadPid, holder, intent, snapshot } from '../state/sample.ts';
import { STATE, stateCommands, stateIn, storeOf } from './state-stage.ts';

const runsOf = async (stage: Stage) => {
  const flags = { dir: stage.folder, format: 'json' } as const;
  const { out } = await stage.run((to) => runs(undefined, flags, to));
  return JSON.parse(out).runs.map(
    ({ purpose, status }: { purpose: string; status: string }) => `${purpose} ${status}`,
  );
};

const NEAR: readonly (readonly [string, (stage: Stage) => Promise<{ readonly err: string }>])[] = [
  ['list', (stage) => stateCommands(stage).list(['agnt.desk'], { exit: 1 })],
  ['show', (stage) => stateCommands(stage).show('agnt.desk', { exit: 1 })],
  ['mv', (stage) => stateCommands(stage).mv('agent.desj', 'agent.front', { exit: 1 })],
  ['rm', (stage) => stateCommands(stage).rm(['agent.recall', 'agent.desj'], false, { exit: 1 })],
];

describe('an address that the state does not hold', () => {
  stagedBothWays('is answered with the nearest one, and nothing is written', async (stage) => {
    await stage.apply();
    const before = await stage.read(STATE);
    for (const [name, act] of NEAR) {
      const { err } = await act(stage);
      expect(err, name).toMatch(/the state holds no ag\w+\.des[kj]\nDid you mean agent\.desk\?/);
    }
    expect(await stage.read(STATE)).toBe(before);
  });
});

describe('state list', () => {
  stagedBothWays('gives every address, or those that are named', async (stage) => {
    await stage.apply();
    const text = stateCommands(stage, 'text');
    expect((await text.list()).out).toBe(`${[...ADDRESSES].sort().join('\n')}\n`);
    expect((await text.list(['knowledge_source.clinic', 'agent.desk'])).out).toBe(
      'agent.desk\nknowledge_source.clinic.faq\nknowledge_source.clinic.prices\n',
    );
    const { resources, serial } = JSON.parse((await stateCommands(stage).list(['agent'])).out);
    expect(serial).toBe(1);
    expect(resources).toMatchObject([
      { address: 'agent.desk', kind: 'agent', name: 'Front desk', protect: false },
      { address: 'agent.recall' },
    ]);
  });

  stagedBothWays('of a stack without a state is empty', async (stage) => {
    const { out, err } = await stateCommands(stage, 'text').list();
    expect([out, err]).toEqual(['', expect.stringContaining('holds no resource')]);
  });
});

describe('state show', () => {
  stagedBothWays('tells all that is known, and of secrets only that they are', async (stage) => {
    await stage.apply();
    const { out } = await stateCommands(stage, 'text').show('agent.desk');
    expect(out).toMatch(/greeting_message +"Harbor Dental, how can I help\?"/);
    expect(out).toMatch(/auth_token +\(secret\)/);
    const { resource } = JSON.parse((await stateCommands(stage).show('agent.desk')).out);
    expect(resource).toEqual((await stateIn(stage)).resources['agent.desk']);
    const { err } = await stateCommands(stage).show('agent', { exit: 1 });
    expect(err).toContain('agent names several resources\nName one of them, such as agent.desk.');
  });
});

describe('state mv', () => {
  stagedBothWays(
    'gives a resource another address: nothing is forgotten, nothing made',
    async (stage) => {
      await stage.edit('agents.yaml', '  recall:', '  recall:\n    lifecycle: { protect: true }');
      await stage.apply();
      const before = (await stateIn(stage)).resources['agent.recall'];
      const { out, err } = await stateCommands(stage).mv('agent.recall', 'agent.due');
      expect(JSON.parse(out)).toMatchObject({
        serial: 2,
        ledger: [{ address: 'agent.due', action: 'move', message: 'it was agent.recall' }],
      });
      expect(err).toContain('If the configuration still has agent.recall, rename it there');
      const { resources, serial } = await stateIn(stage);
      expect(serial).toBe(2);
      expect(resources['agent.recall']).toBeUndefined();
      expect(resources['agent.due']).toEqual(before);
      expect(before?.protect).toBe(true);
      expect(await runsOf(stage)).toEqual(['state mv done', 'apply done']);

      await stage.edit('agents.yaml', '  recall:', '  due:');
      const writes = stage.writes().length;
      await stage.apply();
      expect(stage.writes().length).toBe(writes);
    },
  );

  stagedBothWays('moves all that a fleet or a block has', async (stage) => {
    await stage.apply();
    await stateCommands(stage).mv('knowledge_source.clinic', 'knowledge_source.house');
    const held = Object.keys((await stateIn(stage)).resources);
    expect(held.filter((address) => address.startsWith('knowledge'))).toEqual([
      'knowledge_source.house.faq',
      'knowledge_source.house.prices',
    ]);
  });

  longStaged('does not make secrets look changed', async (stage) => {
    await stage.apply();
    const { out } = await stateCommands(stage).mv('agent.desk', 'agent.front');
    expect(JSON.parse(out).ledger[0].message).toMatch(
      /its 3 secrets changed since .* no longer known/,
    );
    await stage.edit('agents.yaml', '  desk:', '  front:');
    const { changes, notes } = await stage.plan();
    expect(changes).toEqual([]);
    expect(notes.map(({ message }) => message)).toEqual([
      expect.stringContaining('1 secret is set here and cannot be compared'),
    ]);
  });

  const refusals: readonly (readonly [string, string, string, string])[] = [
    [
      'to another kind',
      'agent.desk',
      'retry_policy.desk',
      'a resource of kind agent cannot become retry_policy',
    ],
    [
      'to what is taken',
      'agent.desk',
      'agent.clinic["harbor"]',
      'the state holds agent.clinic["harbor"] already',
    ],
    ['to no address', 'agent.desk', 'agent.de sk', 'agent.de sk is not an address'],
    [
      'of rows below a row',
      'agent.clinic',
      'agent.desk["north"]',
      'agent.clinic["harbor"] would be agent.desk["north"]["harbor"], which is not an address',
    ],
    ['to itself', 'agent.desk', 'agent.desk', 'that is where it is'],
    ['of a whole kind', 'agent', 'agent.desk', 'agent is not an address'],
  ];
  stagedBothWays('is refused where it makes no sense, and writes nothing', async (stage) => {
    await stage.apply();
    await stateCommands(stage).mv('agent.recall', 'agent.clinic["harbor"]');
    const before = await stage.read(STATE);
    for (const [name, from, to, words] of refusals) {
      const { err } = await stateCommands(stage).mv(from, to, { exit: 1 });
      expect(err, name).toContain(words);
    }
    expect(await stage.read(STATE)).toBe(before);
  });
});

describe('state rm', () => {
  stagedBothWays('forgets, deletes nothing, and the next plan adopts', async (stage) => {
    await stage.apply();
    const writes = stage.writes().length;
    const { out, err } = await stateCommands(stage).rm(['agent', 'sms_template.reminder']);
    expect(JSON.parse(out).ledger.map(({ address }: { address: string }) => address)).toEqual([
      'agent.desk',
      'agent.recall',
      'sms_template.reminder',
    ]);
    expect(err).toContain('Nothing was deleted on the platform');
    expect(Object.keys((await stateIn(stage)).resources)).toHaveLength(ADDRESSES.length - 3);
    expect(await runsOf(stage)).toEqual(['state rm done', 'apply done']);
    expect((await stage.plan()).summary).toMatchObject({ adopt: 3, create: 0 });
    await stage.apply();
    expect(stage.writes().length).toBe(writes);
  });

  stagedBothWays('keeps what is protected, unless that is allowed', async (stage) => {
    await stage.edit('agents.yaml', '  recall:', '  recall:\n    lifecycle: { protect: true }');
    await stage.apply();
    const { rm } = stateCommands(stage);
    const { err } = await rm(['agent'], false, { exit: 4 });
    expect(err).toContain('agent.recall is protected, and the state keeps that');
    expect((await stateIn(stage)).serial).toBe(1);
    await rm(['agent'], true);
    expect((await stateIn(stage)).resources['agent.recall']).toBeUndefined();
  });

  for (const [what, address, exit] of [
    ['makes a plan stale that changes what it lets go of', 'agent.desk', 5],
    ['does not make a plan stale that changes something else', 'agent.recall', 0],
  ] as const)
    stagedBothWays(what, async (stage) => {
      await stage.apply();
      await stage.edit('agents.yaml', 'how can I help?', 'good day!');
      await stage.write('plan.json', JSON.stringify(await stage.plan()));
      await stateCommands(stage).rm([address]);
      const isLeft = ({ address: one }: { address: string }) => one === address;
      const { err } = await stage.applyFile('plan.json', {}, { exit, leaves: isLeft });
      if (exit !== 0)
        expect(err).toContain('(agent.desk) was written by another run since the plan');
    });

  stagedBothWays('settles a run that died first', async (stage) => {
    await stage.apply();
    const { lineage, account_id: account = '' } = await stateIn(stage);
    const store = storeOf(stage);
    const lease = await store.acquire(holder('r2', deadPid()));
    await lease.append({ ...began('r2', 1, lineage), account_id: account });
    const { id = '' } = (await stateIn(stage)).resources['agent.recall'] ?? {};
    await lease.append(snapshot('agent.recall', id));
    await lease.append({ ...intent(1, 'agent.recall', id), step: 'delete' });
    await store.close();
    const { err } = await stateCommands(stage).rm(['agent.recall']);
    expect(err).toContain(
      `Run r2, which died, is recovered.\nagent.recall was not deleted (id ${id})`,
    );
    expect((await stateIn(stage)).serial).toBe(3);
    // The name of the run that died tells nothing of when it began.
    expect([...(await runsOf(stage))].sort()).toEqual([
      'apply done',
      'apply settled',
      'state rm done',
    ]);
  });

  longStaged('waits for nobody: a run under way holds the state', async (stage) => {
    await stage.apply();
    const store = storeOf(stage);
    await store.acquire(holder('r2'));
    const { err } = await stateCommands(stage).rm(['agent.recall'], false, { exit: 6 });
    expect(err).toMatch(/is locked by apply \(run r2\) of sam@desk, process \d+, since 2026/);
    await store.close();
  });
});

stagedBothWays(
  'only callsheet.yaml must be right for it: the resources may be broken',
  async (stage) => {
    await stage.apply();
    await stage.write('agents.yaml', 'agents: [');
    await stateCommands(stage).rm(['agent.recall']);
    expect((await stateCommands(stage).list(['agent'])).out).toContain('agent.desk');
    expect(join(stage.folder, STATE)).toBe(storeOf(stage).location);
  },
);
