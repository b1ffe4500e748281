import { DIALECTS, liveOnEach } from './life.ts';

// `npm run torture` goes through the others.
liveOnEach(DIALECTS.slice(0, 1));
