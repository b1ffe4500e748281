import { render } from 'preact';
import type { Packed } from '../pack.ts';
import { readData, rootElement } from './data.ts';
import { readPlan } from './model/plan.ts';
import { Review } from './parts/review.tsx';

render(<Review plan={readPlan(readData<Packed>())} />, rootElement());
