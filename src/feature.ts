import type { CommandSource } from './cli/command-table.ts';
import type { EngineFeature } from './run/context.ts';

/**
 * A feature is a folder below `features/`: commands, settings and judgements that the core does without. The core knows
 * features through this type alone. `features/index.ts` lists them, and `main.ts` and the library hand that list over.
 * An entry is data and small functions; what a command needs is loaded when it runs.
 */
export type Feature = EngineFeature & CommandSource;

export type Features = readonly Feature[];
