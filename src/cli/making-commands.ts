import type { Command } from 'commander';
import type { CommonFlags, Context } from './context.ts';
import type { ExitCode } from './exit.ts';

/** Gives a command its context, and turns what it throws into a report and an exit code. */
export type Act = <F extends CommonFlags>(
  run: (flags: F, context: Context) => Promise<ExitCode>,
) => (flags: F) => Promise<void>;

/** Adds a command, with the flags that every command takes. */
export type MakeCommand = (name: string, description: string) => Command;
