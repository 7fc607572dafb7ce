//! Columns as a Parquet file of one row group.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::columns::{Cells, Column};

/// Writes the columns; every one may have missing cells.
pub fn write(out: &mut (impl Write + Send), columns: &[Column]) -> Result<(), ParquetError> {
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("sweep").with_fields(fields).build()?;
    let properties = WriterProperties::builder().build();
    let mut file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    let mut rows = file.next_row_group()?;
    for column in columns {
        let Some(mut writer) = rows.next_column()? else { break };
        match &column.cells {
            Cells::Text(cells) => {
                put::<ByteArrayType, _>(&mut writer, cells, |text| ByteArray::from(&text[..]))?;
            }
            Cells::Number(cells) => put::<DoubleType, _>(&mut writer, cells, |x| *x)?,
            Cells::Whole(cells) => put::<Int64Type, _>(&mut writer, cells, |x| *x)?,
            Cells::YesNo(cells) => put::<BoolType, _>(&mut writer, cells, |x| *x)?,
        }
        writer.close()?;
    }
    rows.close()?;
    file.close().map(drop)
}

fn field(column: &Column) -> Result<Arc<Type>, ParquetError> {
    let (physical, logical) = match column.cells {
        Cells::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Cells::Number(_) => (Physical::DOUBLE, None),
        Cells::Whole(_) => (Physical::INT64, None),
        Cells::YesNo(_) => (Physical::BOOLEAN, None),
    };
    let builder = Type::primitive_type_builder(&column.name, physical).with_repetition(Repetition::OPTIONAL);
    builder.with_logical_type(logical).build().map(Arc::new)
}

/// Writes the cells that are not missing, and which these are.
fn put<T: DataType, V>(
    writer: &mut SerializedColumnWriter,
    cells: &[Option<V>],
    of: impl Fn(&V) -> T::T,
) -> Result<(), ParquetError> {
    let values: Vec<T::T> = cells.iter().flatten().map(of).collect();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    writer.typed::<T>().write_batch(&values, Some(&levels), None).map(drop)
}
