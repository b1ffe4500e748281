import { missing } from '../answer.ts';
import type { Routes } from '../platform.ts';

/** Tokens for applications that embed an agent (Sessions). */
export const sessions: Routes<'createSession' | 'createPbxSession'> = {
  createSession: () => {
    throw missing('Profile');
  },
  createPbxSession: () => {
    throw missing('Profile');
  },
};
