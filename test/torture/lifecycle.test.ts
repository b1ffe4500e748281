import { DIALECTS, liveOnEach } from '../kinds/life.ts';

liveOnEach(DIALECTS);
