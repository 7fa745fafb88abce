import numpy as np
import pandas as pd

from hedgeclipper.panel.panel_predictor import NamedColumns


def test_rows_without_names_get_some_and_frames_stay():
    named = NamedColumns(["a", "b"])
    frame = pd.DataFrame({"a": [1.0] * 2, "b": 1.0})
    pd.testing.assert_frame_equal(named(np.ones((2, 2))), frame)
    assert named(frame) is frame
