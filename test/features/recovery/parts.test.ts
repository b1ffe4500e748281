import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Change } from '../../../src/core/plan-document.ts';
import {
  assignAddresses,
  inOrder,
  type Part,
  splitParts,
} from '../../../src/features/recovery/addresses.ts';
import type { Held } from '../../../src/features/recovery/held.ts';
import { agreementOn, beyondAgreement } from '../../../src/features/recovery/restore.ts';
import { openStage, staged } from '../../apply/stage.ts';
import { isIdle } from '../../kill/matrix.ts';
import { mortal } from '../../kill/mortal.ts';
import { longTest } from '../../long.ts';
import { FOR_KEY, take, withKey } from '../../snapshot/taking.ts';
import { held } from './held.ts';
import {
  accountOf,
  fleetOf,
  knowledgeBasesOf,
  RESTORED,
  restoreOn,
  suppliesOf,
  unlockAll,
  wholeFleetOf,
  wipe,
} from './restoring.ts';

const MANY = accountOf({ resellers: 2, organizations: 3, agents: 12 });
const FEW = 8;

describe('what a restoration holds at once', () => {
  function cut(all: readonly Held[], most: number, places = new Map<string, string>()) {
    const given = assignAddresses(all);
    const addresses = new Map(inOrder(all, places).map((one) => [one, given.get(one) ?? '']));
    return splitParts(addresses, places, most).map((part: Part) => ({
      own: [...part.own],
      with: [...part.addresses.values()].filter((address) => !part.own.has(address)),
    }));
  }
  const policy = held('1', 'Policy', { kind: 'retry_policy', scope: {} });
  const agents = ['A', 'B', 'C'].map((name) =>
    held(name, name, { references: ['retry_policy 1', 'retry_policy gone'] }),
  );

  test('is what is referred to first, and then a few of the others with it', () => {
    const all = [...agents, policy];
    expect(cut(all, 2)).toEqual([
      { own: ['retry_policy.policy', 'agent.a'], with: [] },
      { own: ['agent.b', 'agent.c'], with: ['retry_policy.policy'] },
    ]);
    expect(cut(all, 9)).toHaveLength(1);
    expect(cut([], 9)).toEqual([{ own: [], with: [] }]);
  });

  test('is one place after the other, by where it goes', () => {
    const [a, b, c] = ['1', '2', '3'].map((id, index) =>
      held(id, `Agent ${id}`, { scope: { organization_id: ['x', 'y', 'z'][index] ?? '' } }),
    ) as [Held, Held, Held];
    const places = new Map([['y', 'a']]);
    expect(cut([a, b, c], 2, places).map(({ own }) => own)).toEqual([
      ['agent.agent_2', 'agent.agent_1'],
      ['agent.agent_3'],
    ]);
  });

  test('has all of what only ids tell apart, even where that is more', () => {
    const same = ['1', '2', '3'].map((id) => held(id, 'Desk', { key: 'Desk' }));
    const elsewhere = held('4', 'Desk', { key: 'Desk', scope: { organization_id: 'p' } });
    expect(cut([...same, elsewhere], 2).map(({ own }) => own.length)).toEqual([3, 1]);
  });
});

describe('a restoration in parts', () => {
  staged(
    'shows and proves what one in a whole does',
    async (stage) => {
      const { sim } = stage;
      const before = fleetOf(sim);
      const taken = { dir: '.', knowledgeBase: knowledgeBasesOf(sim), ...FOR_KEY };
      const { file } = await take(stage, 'then.snapshot', taken);
      const flags = { ...(await suppliesOf(stage)), mapTexts: true, ...(await withKey(stage)) };
      wipe(sim);
      unlockAll(sim);
      const env = { env: RESTORED };
      const dry = { ...flags, dryRun: true };
      const text = { ...dry, format: 'text' as const };
      const [whole, parted] = [
        await restoreOn(stage, file, dry, env),
        await restoreOn(stage, file, { ...dry, together: FEW }, env),
      ];
      const sorted = (summary: ReturnType<typeof whole.summary>) => ({
        ...summary,
        remaining: summary.remaining.toSorted((a, b) => (a.address < b.address ? -1 : 1)),
        exceptions: summary.exceptions.map((one) => JSON.stringify(one)).sort(),
      });
      expect(sorted(parted.summary())).toEqual(sorted(whole.summary()));
      const counts = ({ out }: { readonly out: string }) => out.match(/^Restore: .*$/gm);
      const shown = counts(await restoreOn(stage, file, { ...text, together: FEW }, env));
      expect(shown).toEqual(['Restore: 35 new resources']);
      expect(shown).toEqual(counts(await restoreOn(stage, file, text, env)));
      expect(stage.writes()).toEqual([]);
      const { summary, err } = await restoreOn(stage, file, { ...flags, together: FEW }, env);
      const { status, remaining, runs, proof } = summary();
      expect([status, remaining]).toEqual(['done', []]);
      expect(runs.length).toBeGreaterThan(3);
      expect(err).toContain(`[${FEW}/${FEW}]`);
      expect(proof?.resources).toBe(whole.summary().remaining.length);
      expect(wholeFleetOf(sim)).toEqual(before);
      const again = await restoreOn(stage, file, { ...flags, together: FEW }, env);
      expect(again.summary()).toMatchObject({ runs: [], proof: { resources: proof?.resources } });
    },
    { seed: MANY },
  );

  longTest('goes on where it died, and makes nothing twice', async () => {
    const stage = await openStage();
    try {
      await stage.apply();
      const { file } = await take(stage);
      const before = fleetOf(stage.sim);
      const flags = (name: string) => ({
        state: join(stage.folder, name, 'restored.json'),
        concurrency: 1,
        together: 3,
      });
      wipe(stage.sim);
      const { outside, moments } = mortal();
      await restoreOn(stage, file, flags('first'), { outside });
      const died = moments.filter((moment) => !isIdle(moment));
      for (const [index, moment] of died.entries()) {
        if (index % 30 !== 0) continue;
        wipe(stage.sim);
        const { outside: world, isDead } = mortal(moment);
        await restoreOn(stage, file, flags(String(index)), { outside: world, exit: 'any' });
        expect(isDead(), `${moment.name} never came`).toBe(true);
        const { summary } = await restoreOn(stage, file, flags(String(index)));
        expect([moment, summary().status, summary().remaining]).toEqual([moment, 'done', []]);
        expect(wholeFleetOf(stage.sim), moment.name).toEqual(before);
      }
    } finally {
      await stage.close();
    }
  });
});

describe('what was agreed to before the parts are planned again', () => {
  const change = (more: object) =>
    ({
      address: 'agent.a',
      id: 'i',
      action: 'update',
      verdict: 'ok',
      operations: [{ step: 'update', fields: [] }],
      pin: { digest: 'd', updated_at: null, history_id: null },
      ...more,
    }) as unknown as Change;
  const plan = (one: Change) => ({ changes: [one] }) as never;
  const agreed = agreementOn(plan(change({})));

  test.each([
    ['the same', {}, false],
    ['what is made', { address: 'agent.b', action: 'create', id: null, pin: null }, false],
    ['what writes nothing', { address: 'agent.b', operations: [] }, false],
    ['one that was edited since', { pin: { digest: 'e' } }, true],
    ['another resource', { id: 'j' }, true],
    ['more than was shown', { action: 'replace' }, true],
    ['what was made by others since', { address: 'agent.b' }, true],
  ])('%s', (_what, more, isStale) => {
    const message = beyondAgreement(plan(change(more)), agreed)?.message;
    if (!isStale) expect(message).toBeUndefined();
    else expect(message).toContain('changed after the restore was approved');
  });
});
