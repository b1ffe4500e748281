import type { Context } from '../context.ts';
import type { ExitCode } from '../exit.ts';
import { type GetFlags, get } from './get.ts';

/** `callsheet voices`: the cloned voices of an organization; `callsheet get voices` under a shorter name. */
export function voices(flags: GetFlags, context: Context): Promise<ExitCode> {
  return get('custom_voices', undefined, flags, context);
}
