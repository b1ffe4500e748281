import { render } from 'preact';
import type { Packed } from '../pack.ts';
import { readPlan } from './model/plan.ts';
import { readData, rootElement } from './page.ts';
import { Review } from './parts/review.tsx';

render(<Review plan={readPlan(readData<Packed>())} />, rootElement());
