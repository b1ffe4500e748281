import type { Features } from '../feature.ts';
import { rollout } from './rollout/index.ts';

/** The features that there are, in the order in which help and the reference list them. */
export const features: Features = [rollout];
