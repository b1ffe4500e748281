import { OFFLINE, SHELLS } from '../../console/flags.ts';
import type { Feature } from '../../feature.ts';

/** Completes what is typed at a prompt: commands, flags, and the names of a stack. */
export const editor: Feature = {
  name: 'editor',
  purposes: { completion: 'Fleets, editor, simulator, applications' },
  commands: [
    {
      name: 'completion',
      does: 'print the completion script of a shell',
      args: [{ name: '<shell>', does: 'the shell', choices: SHELLS }],
      examples: ['source <(callsheet completion bash)'],
      exits: OFFLINE,
      load: async () => (await import('./completion.ts')).completion,
    },
  ],
  complete: async () => (await import('./answer.ts')).answer,
};
