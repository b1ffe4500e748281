import type { Feature } from '../../feature.ts';

/** Judges stacks and plans by the rules of a team, and prompts by a lint. */
export const rules: Feature = {
  name: 'rules',
  judge: async () => (await import('./report.ts')).openJudge,
};
