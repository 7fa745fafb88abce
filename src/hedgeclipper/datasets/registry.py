"""What is known about each data set of the paper: plain data, nothing that reads or downloads."""

from __future__ import annotations

from dataclasses import dataclass, field

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_SSL_BOOK = "http://olivier.chapelle.cc/ssl-book"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"


@dataclass(frozen=True)
class Dataset:
    """A data set of the paper, and where its files are published."""

    name: str  # the paper's
    title: str  # what is predicted, in one sentence
    shape: tuple[int, int]  # rows with a label, columns
    archives: tuple[str, ...]  # NumPy: the labeled rows, then the unlabeled ones if they are apart
    origin: str  # where the data come from
    license: str = "none stated"
    layout: str = ""  # of the published files, a key of readers.LAYOUTS
    # Published files, as paths below the data folder, with their SHA-256 where it is known.
    files: dict[str, str | None] = field(default_factory=dict)
    # Where to download them, as in pooch: base_url/file, or its entry in urls; empty if by hand.
    base_url: str = ""
    urls: dict[str, str] = field(default_factory=dict)
    n_test: int = 0  # how many of the last rows are test rows
    n_unlabeled: int = 0  # further rows, without a label
    is_sparse: bool = False  # whether rows are given as a csr_array
    is_bundled: bool = False  # whether the archives come with the package
    named_columns: tuple[str, ...] = ()  # column_1, column_2, ... if empty
    target_name: str = "target"  # of the label in a frame

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns."""
        return list(self.named_columns) or [f"column_{i}" for i in range(1, self.shape[1] + 1)]

    @property
    def is_downloadable(self) -> bool:
        """Whether the published files can be downloaded without an account."""
        return bool(self.base_url or self.urls)

    @property
    def size_in_words(self) -> str:
        """How many rows and columns there are, as a sentence."""
        n_rows, n_columns = self.shape
        words = f"{n_rows:,} rows x {n_columns:,} columns"
        if self.n_test:
            words += f", the first {n_rows - self.n_test:,} rows for training"
        if self.n_unlabeled:
            words += f"; {self.n_unlabeled:,} more without labels"
        return words + "."


_COVTYPE_COLUMNS = (
    *("Elevation", "Aspect", "Slope", "Horizontal_Distance_To_Hydrology"),
    *("Vertical_Distance_To_Hydrology", "Horizontal_Distance_To_Roadways", "Hillshade_9am"),
    *("Hillshade_Noon", "Hillshade_3pm", "Horizontal_Distance_To_Fire_Points"),
    *(f"Wilderness_Area{number}" for number in range(1, 5)),
    *(f"Soil_Type{number}" for number in range(1, 41)),
)
_CREDIT_COLUMNS = (
    *("RevolvingUtilizationOfUnsecuredLines", "age", "NumberOfTime30-59DaysPastDueNotWorse"),
    *("DebtRatio", "MonthlyIncome", "NumberOfOpenCreditLinesAndLoans", "NumberOfTimes90DaysLate"),
    *("NumberRealEstateLoansOrLines", "NumberOfTime60-89DaysPastDueNotWorse"),
    "NumberOfDependents",
)
_SUSY_COLUMNS = (
    *(f"lepton_{lepton}_{quantity}" for lepton in (1, 2) for quantity in ("pT", "eta", "phi")),
    *("missing_energy_magnitude", "missing_energy_phi", "MET_rel", "axial_MET", "M_R", "M_TR_2"),
    *("R", "MT2", "S_R", "M_Delta_R", "dPhi_r_b", "cos_theta_r1"),
)
_HIGGS_COLUMNS = (
    *("lepton_pT", "lepton_eta", "lepton_phi", "missing_energy_magnitude", "missing_energy_phi"),
    *(f"jet_{jet}_{quantity}" for jet in range(1, 5) for quantity in ("pt", "eta", "phi", "b-tag")),
    *("m_jj", "m_jjj", "m_lv", "m_jlv", "m_bb", "m_wbb", "m_wwbb"),
)
N_PLACES_SECSTR, N_SYMBOLS_SECSTR = 15, 21

DATASETS = (
    Dataset(
        name="kagg-prot",
        title="Does a molecule elicit a biological response?",
        shape=(3751, 1776),
        n_unlabeled=2501,
        archives=("kagg_prot.npz", "kagg_prot_unlabeled.npz"),
        layout="kaggle",
        files={"kagg-prot/train.csv": None, "kagg-prot/test.csv": None},
        origin="Kaggle, Predicting a Biological Response (needs an account): "
        "https://www.kaggle.com/c/bioresponse/data",
        license="the rules of the competition",
        named_columns=tuple(f"D{number}" for number in range(1, 1777)),
        target_name="Activity",
    ),
    Dataset(
        name="ssl-text",
        title="Is a posting to a newsgroup about IBM computers?",
        shape=(1500, 11960),
        archives=("ssl_text.npz",),
        layout="ssl_text",
        base_url=_SSL_BOOK,
        files=dict.fromkeys(
            f"SSL,set=9,{part}.mat" for part in ("data", "splits,labeled=10", "splits,labeled=100")
        ),
        origin="Chapelle, Schölkopf and Zien, Semi-Supervised Learning (2006): "
        f"{_SSL_BOOK}/benchmarks.html",
        license="none stated; published for research with the book",
        is_sparse=True,
    ),
    Dataset(
        name="kagg-cred",
        title="Will a borrower be 90 days late within two years?",
        shape=(150_000, 10),
        n_unlabeled=101_503,
        archives=("kagg_cred.npz", "kagg_cred_unlabeled.npz"),
        layout="kaggle",
        files={"kagg-cred/cs-training.csv": None, "kagg-cred/cs-test.csv": None},
        origin="Kaggle, Give Me Some Credit (needs an account): "
        "https://www.kaggle.com/c/GiveMeSomeCredit/data",
        license="the rules of the competition",
        named_columns=_CREDIT_COLUMNS,
        target_name="SeriousDlqin2yrs",
    ),
    Dataset(
        name="a1a",
        title="Who earns more than 50,000 dollars a year?",
        shape=(32_561, 123),
        n_test=30_956,
        archives=("a1a.npz",),
        origin="LIBSVM data, a1a, made from the Adult data of the UCI repository "
        "(Becker and Kohavi, 1996): https://doi.org/10.24432/C5XW20",
        license="CC BY 4.0",
        is_sparse=True,
        target_name="income_over_50k",
        is_bundled=True,
    ),
    Dataset(
        name="w1a",
        title="Does a web page belong to a certain category?",
        shape=(49_749, 300),
        n_test=47_272,
        archives=("w1a.npz",),
        layout="libsvm",
        base_url=_LIBSVM,
        files={"w1a": None, "w1a.t": None},
        origin=f"LIBSVM data, w1a, made by Platt (1998): {_LIBSVM}.html#w1a",
        is_sparse=True,
    ),
    Dataset(
        name="covtype",
        title="Is a patch of forest covered by lodgepole pine, class 2 of seven?",
        shape=(581_012, 54),
        archives=("covtype.npz",),
        layout="covtype",
        urls={"covtype.data.gz": "https://ndownloader.figshare.com/files/5976039"},
        files={
            "covtype.data.gz": "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771"
        },
        origin="UCI Covertype (Blackard, 1998): https://doi.org/10.24432/C50K5N",
        license="CC BY 4.0",
        named_columns=_COVTYPE_COLUMNS,
        target_name="lodgepole_pine",
    ),
    Dataset(
        name="ssl-secstr",
        title="Is the middle one of 15 amino acids part of a helix or sheet, or of a coil?",
        shape=(83_679, N_PLACES_SECSTR * N_SYMBOLS_SECSTR),
        n_unlabeled=1_189_472,
        archives=("ssl_secstr.npz",),
        origin="Chapelle, Schölkopf and Zien, Semi-Supervised Learning (2006): "
        f"{_SSL_BOOK}/benchmarks.html. The archive has the arrays T (83,679 x 15 symbols from 0 to "
        "20), y (0 or 1) and T_extra (1,189,472 x 15)",
        license="none stated; published for research with the book",
        is_sparse=True,
        named_columns=tuple(
            f"place_{place}_symbol_{symbol}"
            for place in range(1, N_PLACES_SECSTR + 1)
            for symbol in range(N_SYMBOLS_SECSTR)
        ),
    ),
    Dataset(
        name="SUSY",
        title="Did a simulated collision make supersymmetric particles?",
        shape=(5_000_000, 18),
        n_test=500_000,
        archives=("susy.npz",),
        layout="label_first",
        base_url=f"{_UCI}/00279",
        files={"SUSY.csv.gz": "be56cb5598da8ece4b13912230ee713bab8b3431a7d118e0054ffdf3a2f25664"},
        origin="UCI SUSY (Whiteson, 2014): https://doi.org/10.24432/C54606",
        license="CC BY 4.0",
        named_columns=_SUSY_COLUMNS,
    ),
    Dataset(
        name="HIGGS",
        title="Did a simulated collision make a Higgs boson?",
        shape=(11_000_000, 28),
        n_test=500_000,
        archives=("higgs.npz",),
        layout="label_first",
        base_url=f"{_UCI}/00280",
        files={"HIGGS.csv.gz": "ea302c18164d4e3d916a1e2e83a9a8d07069fa6ebc7771e4c0540d54e593b698"},
        origin="UCI HIGGS (Whiteson, 2014): https://doi.org/10.24432/C5V312",
        license="CC BY 4.0",
        named_columns=_HIGGS_COLUMNS,
    ),
    Dataset(
        name="epsilon",
        title="An artificial task of the Pascal Large Scale Learning Challenge, rows scaled to 1.",
        shape=(500_000, 2000),
        n_test=100_000,
        archives=("epsilon.npz",),
        layout="libsvm",
        base_url=_LIBSVM,
        files={
            "epsilon_normalized.bz2": (
                "aff916d4f97f18d286558ca088d2a9f7e1fcee9376539a5aa6ef5b7ef9dfa978"
            ),
            "epsilon_normalized.t.bz2": (
                "cb299295ad11e200696eaa3050f5d8cf700eaa9c65e6aa859bda959f8669458b"
            ),
        },
        origin=f"LIBSVM data, epsilon: {_LIBSVM}.html#epsilon",
    ),
    Dataset(
        name="webspam-uni",
        title="Is a web page spam, by the proportions of 254 characters?",
        shape=(350_000, 254),
        archives=("webspam_uni.npz",),
        layout="libsvm",
        base_url=_LIBSVM,
        files={"webspam_wc_normalized_unigram.svm.xz": None},
        origin=f"LIBSVM data, webspam (unigram), of Webb et al. (2006): {_LIBSVM}.html#webspam",
        is_sparse=True,
    ),
)


def dataset_names() -> list[str]:
    """Return the paper's names of its data sets, in the order of its table.

    Examples
    --------
    >>> dataset_names()[:4]
    ['kagg-prot', 'ssl-text', 'kagg-cred', 'a1a']
    """
    return [dataset.name for dataset in DATASETS]


def find_dataset(name: str) -> Dataset:
    """Return the record of a data set; case does not matter, and ``_`` stands for ``-``."""
    for dataset in DATASETS:
        if dataset.name.lower() == str(name).lower().replace("_", "-"):
            return dataset
    raise ValueError(f"There is no data set {name!r}. Choose one of {', '.join(dataset_names())}.")
