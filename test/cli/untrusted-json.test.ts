import { expect } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { runs } from '../../src/cli/commands/state.ts';
import type { Context } from '../../src/console/context.ts';
import { plan } from '../../src/console/plan.ts';
import { staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';

/** U+009B begins a command to a terminal in one character, which JSON lets through; the other turns text round. */
const EVIL = 'a\u009b31m\u202eb';

staged('no JSON holds what a terminal would act on', async (stage) => {
  const edit = (patch: { readonly [field: string]: string }) => {
    const { id } = agentNamed(stage.sim, 'Recall');
    stage.sim.edit(id, patch, EVIL);
  };
  const flags = { dir: stage.folder, format: 'json' } as const;
  await stage.apply();
  edit({ system_prompt: EVIL });
  await stage.edit('agents.yaml', 'who are due for a check-up', 'who are late');
  await stage.apply({ acceptConflicts: true });
  edit({ system_prompt: EVIL });
  const { runs: all } = JSON.parse((await stage.run((to) => runs(undefined, flags, to))).out);
  const last = all[0].run;
  const commands: readonly ((to: Context) => Promise<number>)[] = [
    (to) => plan(flags, to),
    (to) => drift(flags, to),
    (to) => runs(last, flags, to),
  ];
  for (const command of commands) {
    const { out } = await stage.run(command);
    expect(JSON.stringify(JSON.parse(out))).toMatch(/\u009b/);
    expect(out).not.toMatch(/[\u007f-\u009f\u202e]/);
  }
});
