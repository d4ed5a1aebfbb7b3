//! Which file systems other machines write too.

use std::path::Path;

use super::file::OpenError;

/// Refuses a path on a network file system: its locks do not keep writers apart, and memory that is
/// shared through it is not shared.
#[cfg(target_os = "linux")]
pub(crate) fn refuse(path: &Path) -> Result<(), OpenError> {
    let found = rustix::fs::statfs(path)
        .map_err(|error| OpenError::File(std::io::Error::from(error).kind()))?;
    // the kind is a signed or unsigned word of one or two halves; its low half tells
    match name(i128::from(found.f_type) & 0xFFFF_FFFF) {
        Some(name) => Err(OpenError::Network(name)),
        None => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "only Linux tells them apart in one way"
)]
pub(crate) const fn refuse(_path: &Path) -> Result<(), OpenError> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn name(magic: i128) -> Option<&'static str> {
    let known = NETWORK.iter().find(|(of, _)| *of == magic);
    known.map(|(_, name)| *name)
}

/// `f_type` of statfs(2), as in the kernel's `linux/magic.h` and in the file systems' own sources.
/// What is behind FUSE and virtiofs cannot be told, and is mostly another machine.
#[cfg(target_os = "linux")]
const NETWORK: [(i128, &str); 18] = [
    (0x6969, "NFS"),
    (0x517B, "SMB"),
    (0xFF53_4D42, "CIFS"),
    (0xFE53_4D42, "SMB2"),
    (0x6573_5546, "FUSE"),
    (0x0102_1997, "9p"),
    (0x5346_414F, "AFS"),
    (0x6B41_4653, "AFS"),
    (0x7375_7245, "Coda"),
    (0x564C, "NCP"),
    (0x00C3_6400, "Ceph"),
    (0x0BD0_0BD0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x0116_1970, "GFS2"),
    (0x7461_636F, "OCFS2"),
    (0xAAD7_AAEA, "PanFS"),
    (0x2003_0528, "OrangeFS"),
    (0x786F_4256, "vboxsf"),
];

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_told_from_local_ones() {
        assert_eq!(name(0x6969), Some("NFS"));
        assert_eq!(
            name(i128::from(-11_317_950_i32) & 0xFFFF_FFFF),
            Some("CIFS")
        );
        for local in [
            0xEF53_i128,
            0x5846_5342,
            0x9123_683E,
            0x0102_1994,
            0x794C_7630,
        ] {
            assert_eq!(name(local), None, "{local:x}");
        }
    }
}
