import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plan } from '../../../src/console/plan.ts';
import { start } from '../../../src/features/rollout/command.ts';
import { inOneLine, open, STACK, textIn } from '../../cli/git-stage.ts';
import { temporaryFolder } from '../../temporary.ts';
import { agents, put, settings } from '../fleet/tree.ts';

test.each(['NAME', 'PLANFILE'])(
  'a checkout without what was applied last is refused by rollout start %s',
  async (what) => {
    const { main, run, apply: applyAt, git, commit, writes } = await open();
    const rollouts =
      'rollouts: { careful: { steps: [100%], judge: { measures: { resolved: { margin: 10 } } } } }\n';
    put(main, join(STACK, 'callsheet.yaml'), settings(0, `stack: clinic\n${rollouts}`));
    const begun = commit('Begun.');
    commit('Two.');
    await applyAt();
    const out = join(temporaryFolder(), 'plan.json');
    commit('Three.');
    const planned = await run((to) =>
      plan(
        {
          ...textIn(main),
          out,
          strategy: { feature: 'rollout', name: 'careful', command: 'rollout start' },
        },
        to,
      ),
    );
    expect(planned.exit, planned.err).toBe(0);
    git('checkout', '--quiet', begun);
    if (what === 'PLANFILE')
      put(main, join(STACK, 'agents.yaml'), agents('Desk').replace('You are Desk.', 'Three.'));
    const before = writes();
    const flags = { ...textIn(main), autoApprove: true } as const;
    const found = await run((to) => start(what === 'NAME' ? 'careful' : out, flags, to));
    expect(found).toMatchObject({ exit: 5 });
    expect(inOneLine(found)).toContain('which this checkout does not have');
    expect(writes()).toBe(before);
  },
);
