import type { Features } from '../feature.ts';
import { editor } from './editor/index.ts';
import { fleet } from './fleet/index.ts';
import { log } from './log/index.ts';
import { page } from './page/index.ts';
import { reading } from './reading/index.ts';
import { recovery } from './recovery/index.ts';
import { rehearse } from './rehearse/index.ts';
import { review } from './review/index.ts';
import { rollout } from './rollout/index.ts';
import { rules } from './rules/index.ts';
import { stores } from './stores/index.ts';
import { telemetry } from './telemetry/index.ts';
import { watch } from './watch/index.ts';
import { writing } from './writing/index.ts';

/**
 * `features/` has what the core does without, a folder each. Deleting a folder and its line here takes the feature away:
 * the rest type-checks, and its tests pass (`scripts/features.ts`).
 *
 * The order is the one in which help and the reference list them.
 */
export const features: Features = [
  writing,
  recovery,
  rollout,
  watch,
  rehearse,
  reading,
  fleet,
  stores,
  log,
  page,
  rules,
  editor,
  telemetry,
  review,
];
